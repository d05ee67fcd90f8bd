import type { WorkingObject } from "../../fullnode/execution-state.ts";

/** Runs `transfer::public_transfer`. */
export function handOver(object: WorkingObject, recipient: string): void {
  object.owner = { kind: "address", address: recipient };
  object.mutated = true;
}

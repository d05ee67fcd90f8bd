import type { WorkingObject } from "./execution-state.ts";
import { moveAbort } from "./failures.ts";
import { SUI_FRAMEWORK } from "./sui-types.ts";

/** Runs `transfer::public_receive`: takes an object that was sent to the parent. Aborts if it was sent elsewhere. */
export function receive(parent: WorkingObject, object: WorkingObject): WorkingObject {
  const { owner } = object;
  if (owner?.kind !== "address" || owner.address !== parent.id)
    throw moveAbort(`${SUI_FRAMEWORK}::transfer::receive_impl`, UNABLE_TO_RECEIVE);
  object.owner = undefined;
  object.mutated = true;
  return object;
}

/** `0x2::transfer::EUnableToReceiveObject` */
const UNABLE_TO_RECEIVE = 3;

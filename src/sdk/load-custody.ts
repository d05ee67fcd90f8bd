import { loadPart } from "../crypto/load-part.ts";
import type { Action } from "./action.ts";

/** Loads the code of exits. It is a chunk of its own, because most users never need it. */
export async function loadCustody({
  signal,
}: Pick<Action, "signal">): Promise<typeof import("./custody-within.ts")> {
  return await loadPart(() => import("./custody-within.ts"), signal);
}

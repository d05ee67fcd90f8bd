import { loadPart } from "../crypto/load-part.ts";
import type { Action } from "./action.ts";

/** Loads the code of the custody actions. It is a separate chunk, because most users never need it. */
export async function loadCustody({
  signal,
}: Pick<Action, "signal">): Promise<typeof import("./custody-within.ts")> {
  return await loadPart(() => import("./custody-within.ts"), signal);
}

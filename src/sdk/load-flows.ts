import { loadPart } from "../crypto/load-part.ts";
import type { Action } from "./action.ts";
import type { Flows } from "./flows.ts";

/**
 * Loads the asynchronous part of the actions. It is a separate chunk, which a page loads with the first action instead
 * of with the client. An action checks its arguments and copies its secrets before this call.
 */
export async function loadFlows({ signal }: Partial<Pick<Action, "signal">> = {}): Promise<Flows> {
  loaded ??= (await loadPart(() => import("./flows.ts"), signal)).FLOWS;
  return loaded;
}

let loaded: Flows | undefined;

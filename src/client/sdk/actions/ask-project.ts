import type { Action } from "../action.ts";
import { isUuid } from "../checks.ts";
import type { ClientContext } from "../context.ts";
import { TssError } from "../errors.ts";

/** Returns the project of the client's key or session, as the service names it. */
export async function askProject(context: ClientContext, action: Action): Promise<string> {
  const { projectId } = await context.call(action, (options) => context.raw.account.getAccount({}, options));
  if (isUuid(projectId)) return projectId;
  throw new TssError("OUTPUT_MISMATCH", "the service names no valid project");
}

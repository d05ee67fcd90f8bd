import type { ExecutionState } from "../../../fullnode/execution/execution-state.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { coordinatorTypes, readInner } from "../coordinator-state.ts";
import type { SessionFields } from "../sessions.ts";
import type { WaitingSession } from "./requested-session.ts";

/** The session's own fields in a result event. */
export interface ResultFields extends SessionFields {
  readonly event_initiated_at_epoch: string;
}

/** Emits the result event of the session; `names` are its request, completed and rejected event. */
export function emitResult(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: WaitingSession,
  names: readonly [string, string, string],
  encode: (fields: ResultFields) => { toBytes(): Uint8Array },
): void {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const { fields } = session;
  const epoch = readInner(state, addresses).current_epoch;
  state.emit({
    packageId: addresses.dwalletPackageId,
    module: "sessions_manager",
    type: types.sessions(`DWalletSessionResultEvent<${names.map((name) => types.inner(name)).join(",")}>`),
    contents: encode({ ...fields, epoch, event_initiated_at_epoch: fields.epoch }).toBytes(),
  });
}

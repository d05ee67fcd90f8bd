import type { JSX } from "preact";
import { DWallet_StateSchema, DWallet_State as State } from "../../../gen/client/tss/v1/onboarding_pb.ts";
import { Holder_StateSchema, Holder_State as HolderState } from "../../../gen/client/tss/v1/sharing_pb.ts";
import {
  SignRequest_Hold_State as Hold,
  type SignRequest,
  SignRequest_StatusSchema,
  SignRequest_Status as Status,
} from "../../../gen/client/tss/v1/signing_pb.ts";
import type { User } from "../../../gen/client/tss/v1/users_pb.ts";
import { Badge } from "../design/value/badge.tsx";
import { enumName } from "../format/text.ts";

export function DWalletBadge({ state }: { readonly state: State }): JSX.Element {
  switch (state) {
    case State.Active:
      return <Badge tone="good">active</Badge>;
    case State.Submitting:
      return <Badge tone="busy">submitting</Badge>;
    case State.AwaitingNetworkDKGVerification:
      return <Badge tone="busy">network verifies</Badge>;
    case State.AwaitingKeyHolderSignature:
      return <Badge tone="warn">user must accept</Badge>;
    case State.NetworkRejectedDKGVerification:
      return <Badge tone="bad">rejected</Badge>;
    case State.Leaving:
      return <Badge tone="busy">leaving</Badge>;
    case State.Left:
      return <Badge tone="none">left</Badge>;
    default:
      return <Badge tone="none">{enumName(DWallet_StateSchema, state)}</Badge>;
  }
}

/** A sign request's state, with the reason of a failure. A held half waits for its release. */
export function SignState({ of: { status, failure, hold } }: SignStateProps): JSX.Element {
  if (status === Status.queued && hold?.state === Hold.held) return <Badge tone="warn">held</Badge>;
  switch (status) {
    case Status.prepared:
      return <Badge tone="none">prepared</Badge>;
    case Status.queued:
      return <Badge tone="busy">queued</Badge>;
    case Status.submitted:
      return <Badge tone="busy">submitted</Badge>;
    case Status.completed:
      return <Badge tone="good">completed</Badge>;
    case Status.failed:
      return (
        <>
          <Badge tone="bad">failed</Badge>
          {failure !== undefined && <span class="small muted"> {failure.reason}</span>}
        </>
      );
    default:
      return <Badge tone="none">{enumName(SignRequest_StatusSchema, status)}</Badge>;
  }
}

interface SignStateProps {
  readonly of: Pick<SignRequest, "status" | "failure" | "hold">;
}

/** The state of a holder's share. */
export function HolderBadge({ state }: { readonly state: HolderState }): JSX.Element {
  switch (state) {
    case HolderState.Submitting:
      return <Badge tone="busy">submitting</Badge>;
    case HolderState.AwaitingNetworkVerification:
      return <Badge tone="busy">network verifies</Badge>;
    case HolderState.AwaitingAcceptance:
      return <Badge tone="warn">holder must accept</Badge>;
    case HolderState.Accepted:
      return <Badge tone="good">can sign</Badge>;
    case HolderState.NetworkVerificationRejected:
      return <Badge tone="bad">rejected</Badge>;
    case HolderState.Removed:
      return <Badge tone="none">removed</Badge>;
    default:
      return <Badge tone="none">{enumName(Holder_StateSchema, state)}</Badge>;
  }
}

/** The state of a user. */
export function UserBadge({ of: { freezeTime } }: { readonly of: Pick<User, "freezeTime"> }): JSX.Element {
  return freezeTime === undefined ? <Badge tone="good">active</Badge> : <Badge tone="warn">frozen</Badge>;
}

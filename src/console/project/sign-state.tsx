import type { JSX } from "preact";
import { type SignRequest, SignRequest_Status as Status } from "../../../gen/client/tss/v1/signing_pb.ts";
import { Badge } from "../ui/badge.tsx";

/** A sign request's state, with the reason of a failure. */
export function SignState({ of: { status, failure } }: SignStateProps): JSX.Element {
  switch (status) {
    case Status.prepared:
      return <Badge tone="none">prepared</Badge>;
    case Status.queued:
      return <Badge tone="busy">queued</Badge>;
    case Status.submitted:
      return <Badge tone="busy">submitted</Badge>;
    case Status.completed:
      return <Badge tone="good">completed</Badge>;
    default:
      return (
        <>
          <Badge tone="bad">failed</Badge>
          {failure !== undefined && <span class="small muted"> {failure.reason}</span>}
        </>
      );
  }
}

interface SignStateProps {
  readonly of: Pick<SignRequest, "status" | "failure">;
}

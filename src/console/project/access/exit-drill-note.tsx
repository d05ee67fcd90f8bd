import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { type ExitDrill, ExitDrill_Outcome as Outcome } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import { Badge } from "../../design/value/badge.tsx";
import { Age } from "../../design/value/time.tsx";

/** The last rehearsal of the owner's exit that a key of the project reported. The service does not check it. */
export function ExitDrillNote({ of: drill }: { readonly of: ExitDrill | undefined }): JSX.Element {
  if (drill?.checkTime === undefined)
    return (
      <>
        <Badge tone="none">never rehearsed</Badge>{" "}
        <span class="small muted">
          tss signer rehearses it every day: see “The exit drill” in docs/signer.md.
        </span>
      </>
    );
  const { outcome, checkTime } = drill;
  const isOld = Date.now() - timestampMs(checkTime) > OLD_MS;
  return (
    <>
      {outcome === Outcome.could_leave ? (
        <Badge tone={isOld ? "warn" : "good"}>the owner could leave</Badge>
      ) : outcome === Outcome.refused ? (
        <Badge tone="bad">the owner could not leave</Badge>
      ) : (
        <Badge tone="none">unknown outcome</Badge>
      )}{" "}
      <span class="small muted">
        Exit rehearsed <Age of={checkTime} at={undefined} />, reports a key of the project.
        {outcome === Outcome.refused && " The log of tss signer has the reason."}
      </span>
    </>
  );
}

/** The signer rehearses once a day. */
const OLD_MS = 2 * 86_400_000;

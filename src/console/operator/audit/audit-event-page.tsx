import type { JSX } from "preact";
import type { AuditEvent, GetAuditProofResponse } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { checkSealSignature, isProved } from "../../../protocol/seals/verify-proof.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../design/empty.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { Facts } from "../../design/value/facts.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { formatHex } from "../../format/text.ts";
import type { PageProps } from "../../route.ts";
import { ProjectLink } from "../project-link.tsx";

/** An event of the audit trail with its proof, which the page verifies in the browser. */
export function AuditEventPage({ id }: PageProps): JSX.Element {
  const { admin } = useSession().everyNetwork;
  const isNumber = /^[1-9]\d{0,18}$/.test(id);
  const proof = useCall(
    async (signal) => (isNumber ? admin.getAuditProof({ auditEventId: BigInt(id) }, { signal }) : undefined),
    [id],
  );
  return (
    <PageFrame title={`Audit event ${isNumber ? id : ""}`} up={{ href: "#/audit", title: "All events" }}>
      <Loaded call={proof} lines={8}>
        {(reply) =>
          reply === undefined ? (
            <Empty title="No such event">The address must end in the number of an event.</Empty>
          ) : (
            <Proof reply={reply} />
          )
        }
      </Loaded>
    </PageFrame>
  );
}

function Proof({ reply }: { readonly reply: GetAuditProofResponse }): JSX.Element {
  const { auditEvent: event, auditSeal: seal, auditPath } = reply;
  const isValid = isProved(reply);
  return (
    <>
      <Panel title="Proof" note="Computed in this page from the event, the path and the seal.">
        <div class="verdict" role="status">
          {isValid ? (
            <Badge tone="good">The proof is valid</Badge>
          ) : (
            <Badge tone="bad">The proof is invalid</Badge>
          )}
          <p>
            {isValid
              ? "The hashes lead from this event to its seal. Compare the seal's hash with the one that you recorded elsewhere."
              : "The hashes do not lead from this event to its seal: one of them was changed."}
          </p>
        </div>
        {seal !== undefined && (
          <Facts
            facts={[
              ["Seal", `${seal.number}, over the entries ${seal.firstSequence} to ${seal.lastSequence}`],
              ["Sealed", <Time of={seal.createTime} />],
              ["Seal hash", <Id id={formatHex(seal.sealHash)} what="seal hash" isWhole />],
              ["Signature", <SignatureState of={checkSealSignature(seal)} />],
              [
                "Signing key",
                seal.publicKey.length > 0 ? (
                  <Id id={formatHex(seal.publicKey)} what="signing key" isWhole />
                ) : undefined,
              ],
              ["Merkle root", <Id id={formatHex(seal.merkleRoot)} what="Merkle root" isWhole />],
              [
                "Path",
                auditPath.length === 0 ? "none; the seal has one entry" : `${auditPath.length} hashes`,
              ],
            ]}
          />
        )}
      </Panel>
      {event !== undefined && (
        <Panel title="Event">
          <Facts
            facts={[
              ["Time", <Time of={event.createTime} />],
              ["Action", <code>{event.action}</code>],
              ["Actor", <Id id={event.actor} what="actor" isWhole />],
              [
                "Subject",
                event.subject ? (
                  <Id id={event.subject} what="subject" href={storyOf(event)} isWhole />
                ) : undefined,
              ],
              ["Project", event.projectId ? <ProjectLink id={event.projectId} /> : undefined],
              [
                "Request",
                event.requestId ? <Id id={event.requestId} what="request id" isWhole /> : undefined,
              ],
              ["Address", event.address || undefined],
              ["Entry", event.sequence === undefined ? undefined : `${event.sequence}`],
            ]}
          />
        </Panel>
      )}
    </>
  );
}

/** Returns the page with the story of an event's subject; undefined if the subject has none. */
function storyOf({ action, subject }: Pick<AuditEvent, "action" | "subject">): string | undefined {
  return /^(?:sign|dwallet|subject)\./.test(action) ? `#/subjects/${subject}` : undefined;
}

function SignatureState({ of }: { readonly of: ReturnType<typeof checkSealSignature> }): JSX.Element {
  if (of === "none") return <Badge tone="none">the seal is not signed</Badge>;
  if (of === "wrong") return <Badge tone="bad">the signature is wrong</Badge>;
  return <Badge tone="good">valid under the key below</Badge>;
}

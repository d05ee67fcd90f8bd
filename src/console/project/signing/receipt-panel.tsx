import { toJsonString } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import {
  type GetSignReceiptResponse,
  GetSignReceiptResponseSchema,
} from "../../../../gen/client/tss/v1/receipts_pb.ts";
import type { SignRequest } from "../../../../gen/client/tss/v1/signing_pb.ts";
import { isChargeAudited, isChargeProved } from "../../../protocol/seals/proved-charge.ts";
import { checkSealSignature, isProved } from "../../../protocol/seals/verify-proof.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Loaded } from "../../design/loaded.tsx";
import { Panel } from "../../design/panel.tsx";
import { saveFile } from "../../design/save-file.ts";
import { useNow } from "../../design/use-now.ts";
import { Badge } from "../../design/value/badge.tsx";
import { Facts } from "../../design/value/facts.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { formatHex, formatMoney } from "../../format/text.ts";
import { actorId } from "../../signing/sign-story.ts";

/**
 * Who submitted a completed request, the audit entry of the submission with its proof, and the receipt to keep. Asks for
 * the receipt once the submission is likely to be sealed.
 */
export function ReceiptPanel({ request }: ReceiptPanelProps): JSX.Element {
  const { updateTime } = request;
  const endMs = updateTime === undefined ? 0 : timestampMs(updateTime);
  const [isOld, setIsOld] = useState(() => Date.now() - endMs >= SEALED_AFTER_MS);
  const nowMs = useNow(isOld ? undefined : 1_000);
  useEffect(() => {
    if (nowMs - endMs >= SEALED_AFTER_MS) setIsOld(true);
  }, [nowMs]);
  if (isOld) return <Receipt signRequestId={request.signRequestId} />;
  return (
    <ProofPanel>
      <p class="muted" role="status">
        The submission is sealed some seconds after the signature. Then the proof appears here.
      </p>
    </ProofPanel>
  );
}

interface ReceiptPanelProps {
  /** A completed request. */
  readonly request: SignRequest;
}

const SEALED_AFTER_MS = 6_000;

function Receipt({ signRequestId }: { readonly signRequestId: string }): JSX.Element {
  const { receipts } = useSession();
  const [isRead, setIsRead] = useState(false);
  const receipt = useCall(
    (signal) => receipts.getSignReceipt({ signRequestId }, { signal }),
    [signRequestId],
    // A receipt exists once the submission is sealed. Then it never changes.
    isRead ? {} : { everyMs: 5_000 },
  );
  const { data } = receipt;
  useEffect(() => setIsRead(data !== undefined), [data]);
  return (
    <ProofPanel
      actions={
        data !== undefined && (
          <button type="button" class="button button-primary" onClick={() => save(signRequestId, data)}>
            Download the receipt
          </button>
        )
      }
    >
      <Loaded call={receipt}>{(reply) => <Proof of={reply} />}</Loaded>
    </ProofPanel>
  );
}

function ProofPanel({ actions, children }: ProofPanelProps): JSX.Element {
  return (
    <Panel
      title="Proof"
      note="The audit trail’s entry of the submission. Check the receipt without the service: tss receipt verify, or verifyReceipt of the client."
      actions={actions}
    >
      {children}
    </Panel>
  );
}

interface ProofPanelProps {
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

function Proof({ of: receipt }: { readonly of: GetSignReceiptResponse }): JSX.Element {
  const { auditEvent: event, auditSeal: seal } = receipt;
  return (
    <>
      <div class="verdict" role="status">
        {isProved(receipt) ? (
          <Badge tone="good">The proof is valid</Badge>
        ) : (
          <Badge tone="bad">The proof is invalid</Badge>
        )}
        <p>
          {isProved(receipt)
            ? "Computed in this page: the hashes lead from the entry to its seal. Compare the seal’s hash with the one that you recorded elsewhere."
            : "The hashes do not lead from the entry to its seal: one of them was changed."}
        </p>
      </div>
      <Facts
        facts={[
          ["Submitted by", event && <Submitter actor={event.actor} />],
          ["From", event?.address || undefined],
          ["At", event && <Time of={event.createTime} />],
          ["Call", event?.requestId ? <Id id={event.requestId} what="request id" isWhole /> : undefined],
          ["Audit event", event && `${event.auditEventId}, ${event.action}`],
          [
            "Seal",
            seal && (
              <>
                {`${seal.number}, `}
                <Time of={seal.createTime} />
                {checkSealSignature(seal) === "wrong" && <Badge tone="bad">its signature is wrong</Badge>}
              </>
            ),
          ],
          ["Price", <Price of={receipt} />],
          ["Seal hash", seal && <Id id={formatHex(seal.sealHash)} what="seal hash" isWhole />],
        ]}
      />
    </>
  );
}

/** The price, and whether the seal covers it. */
function Price({ of: receipt }: { readonly of: GetSignReceiptResponse }): JSX.Element {
  const { charge, signRequest } = receipt;
  const price = charge === undefined ? "none named" : formatMoney(charge.priceMicroUsd);
  const isRight = isChargeAudited({
    signRequestId: signRequest?.signRequestId ?? "",
    charge,
    proof: receipt,
  });
  if (!isRight) return <Badge tone="bad">{`${price}, but the entry names another charge`}</Badge>;
  if (!isChargeProved(receipt)) {
    return (
      <>
        {price} <span class="muted">is not proved: the entry is older than the proof of prices</span>
      </>
    );
  }
  return isProved(receipt) ? (
    <>
      {price} <span class="muted">is proved: the seal covers it and its ledger entry</span>
    </>
  ) : (
    <span>{price}</span>
  );
}

/** The key or the session that submitted the half, by name if it is among the project's newest 200 keys. */
function Submitter({ actor }: { readonly actor: string }): JSX.Element {
  const { account } = useSession();
  const keyId = actorId(actor, "key");
  const name = useCall(
    async (signal) => {
      if (keyId === undefined) return undefined;
      const { accountKeys } = await account.listAccountKeys({ pageSize: 200 }, { signal });
      return accountKeys.find(({ apiKeyId }) => apiKeyId === keyId)?.name;
    },
    [keyId],
  );
  const sessionId = actorId(actor, "session");
  if (keyId !== undefined)
    return (
      <>
        the key {name.data !== undefined && <a href="#/keys">{name.data}</a>}{" "}
        <Id id={keyId} what="key id" href="#/keys" />
      </>
    );
  if (sessionId !== undefined)
    return (
      <>
        the session <Id id={sessionId} what="session id" href="#/sessions" />
      </>
    );
  return <Id id={actor} what="actor" isWhole />;
}

/** Saves the file that `tss receipt verify` reads. */
function save(signRequestId: string, receipt: GetSignReceiptResponse): void {
  const json = toJsonString(GetSignReceiptResponseSchema, receipt, {
    alwaysEmitImplicit: true,
    prettySpaces: 2,
  });
  saveFile(`receipt-${signRequestId}.json`, "application/json", json);
}

import { toJsonString } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import {
  type GetSignReceiptResponse,
  GetSignReceiptResponseSchema,
} from "../../../gen/client/tss/v1/receipts_pb.ts";
import type { SignRequest } from "../../../gen/client/tss/v1/signing_pb.ts";
import { useSession } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { formatDuration, formatMoney } from "../format/text.ts";
import { Facts } from "../ui/facts.tsx";
import { Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Panel } from "../ui/panel.tsx";
import { Time } from "../ui/time.tsx";

/** What a completed signature cost, how long it took, and its receipt to keep. Asks for it once the reader does. */
export function ReceiptPanel({ request }: ReceiptPanelProps): JSX.Element {
  const [isWanted, setIsWanted] = useState(false);
  return (
    <Panel
      title="Receipt"
      note="Check it without the service: tss receipt verify, or verifyReceipt of the client."
      actions={
        !isWanted && (
          <button type="button" class="button" onClick={() => setIsWanted(true)}>
            Get the receipt
          </button>
        )
      }
    >
      {isWanted && <Receipt request={request} />}
    </Panel>
  );
}

function Receipt({ request }: ReceiptPanelProps): JSX.Element {
  const { receipts } = useSession();
  const { signRequestId } = request;
  const [isRead, setIsRead] = useState(false);
  const receipt = useCall(
    (signal) => receipts.getSignReceipt({ signRequestId }, { signal }),
    [signRequestId],
    // A receipt exists once the submission is sealed, seconds after it. Then it never changes.
    isRead ? {} : { everyMs: 5_000 },
  );
  useEffect(() => setIsRead(receipt.data !== undefined), [receipt.data]);
  return (
    <Loaded call={receipt}>
      {(reply) => (
        <>
          <Parts request={request} receipt={reply} />
          <div class="actions">
            <button type="button" class="button button-primary" onClick={() => save(signRequestId, reply)}>
              Download the receipt
            </button>
          </div>
        </>
      )}
    </Loaded>
  );
}

interface ReceiptPanelProps {
  /** A completed request. */
  readonly request: SignRequest;
}

function Parts({ request, receipt: { charge, auditEvent, auditSeal } }: PartsProps): JSX.Element {
  return (
    <Facts
      facts={[
        ["Charged", charge && <>{formatMoney(charge.priceMicroUsd)}</>],
        ["Ledger entry", charge && <Id id={charge.ledgerEntryId} what="ledger entry id" isWhole />],
        ["Half received", charge && <Time of={charge.createTime} />],
        ["The client took", durationBetween(request.createTime, charge?.createTime)],
        ["Service and network took", durationBetween(charge?.createTime, request.updateTime)],
        ["Audit event", auditEvent && `${auditEvent.auditEventId}`],
        [
          "Seal",
          auditSeal && (
            <>
              {`${auditSeal.number}`}, <Time of={auditSeal.createTime} />
            </>
          ),
        ],
      ]}
    />
  );
}

interface PartsProps {
  readonly request: SignRequest;
  readonly receipt: GetSignReceiptResponse;
}

function durationBetween(from: SignRequest["createTime"], to: SignRequest["createTime"]): string | undefined {
  if (from === undefined || to === undefined) return undefined;
  return formatDuration(Math.max(0, timestampMs(to) - timestampMs(from)));
}

/** Saves the file that `tss receipt verify` reads. */
function save(signRequestId: string, receipt: GetSignReceiptResponse): void {
  const json = toJsonString(GetSignReceiptResponseSchema, receipt, {
    alwaysEmitImplicit: true,
    prettySpaces: 2,
  });
  const url = URL.createObjectURL(new Blob([json], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `receipt-${signRequestId}.json`;
  link.click();
  URL.revokeObjectURL(url);
}

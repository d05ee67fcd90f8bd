import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type SignRequest, SignRequest_Status as Status } from "../../../../gen/client/tss/v1/signing_pb.ts";
import { isUnknown } from "../../api/failure-text.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { isFinal, useSignRequests } from "../../api/use-sign-requests.ts";
import { StageBars } from "../../design/chart/stage-bars.tsx";
import { Empty } from "../../design/empty.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { useNow } from "../../design/use-now.ts";
import { Facts } from "../../design/value/facts.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { formatDuration, formatHex, formatMoney, formatMoneyChange } from "../../format/text.ts";
import type { PageProps } from "../../route.ts";
import { algorithmFacts, chainFacts } from "../../signing/request-facts.tsx";
import { keptOf, ledgerEntriesOf, type StoryEntry, signStory } from "../../signing/sign-story.ts";
import { SignState } from "../../signing/state-badges.tsx";
import { UserLink } from "../access/user-link.tsx";
import { HoldPanel } from "./hold-panel.tsx";
import { ReceiptPanel } from "./receipt-panel.tsx";

/** The story of one sign request, followed until it is final. */
export function SignPage({ id }: PageProps): JSX.Element {
  const { signing } = useSession();
  const [isQueued, setIsQueued] = useState(false);
  const request = useCall(
    (signal) => signing.getSign({ signRequestId: id }, { signal }),
    [id],
    // The stream does not tell when the transaction is sent.
    isQueued ? { everyMs: 1_000 } : {},
  );
  const [newest] = useSignRequests(request.data === undefined ? [] : [request.data]);
  useEffect(
    () => setIsQueued(newest?.status === Status.queued && newest.sendTime === undefined),
    [newest?.status, newest?.sendTime],
  );
  if (isUnknown(request.failure, "SIGN_REQUEST_NOT_FOUND"))
    return (
      <PageFrame title="No such sign request" up={{ href: "#/signs", title: "All sign requests" }}>
        <Empty title="The key sees no sign request with this id">
          <code class="wrap">{id}</code>
        </Empty>
      </PageFrame>
    );
  return (
    <PageFrame title="Sign request" up={{ href: "#/signs", title: "All sign requests" }}>
      <Loaded call={request} lines={8}>
        {(found) => <Parts request={newest ?? found} onChanged={request.reload} />}
      </Loaded>
    </PageFrame>
  );
}

interface PartProps {
  readonly request: SignRequest;
}

function Parts({ request, onChanged }: PartProps & { onChanged(): void }): JSX.Element {
  const { scopes } = useSession();
  const may = (scope: string): boolean => scopes === undefined || scopes.includes(scope);
  return (
    <>
      <StoryPanel request={request} />
      {request.hold !== undefined && <HoldPanel request={request} onChanged={onChanged} />}
      <RequestPanel request={request} />
      <ChainPanel request={request} />
      <MoneyPanel request={request} />
      {request.status === Status.completed && may("billing") && <ReceiptPanel request={request} />}
    </>
  );
}

function StoryPanel({ request }: PartProps): JSX.Element {
  const { failure } = request;
  const nowMs = useNow(isFinal(request) ? undefined : REDRAW_MS);
  const stages = signStory(request, nowMs);
  const wholeMs = (stages.at(-1)?.toMs ?? 0) - (stages[0]?.fromMs ?? 0);
  return (
    <Panel title="Story" note={isFinal(request) ? undefined : "Follows the request until it is final."}>
      <p role="status">
        <SignState of={request} />{" "}
        {isFinal(request) && <span class="muted">after {formatDuration(wholeMs)}</span>}
      </p>
      {failure !== undefined && <p class="wrap">{failure.message}</p>}
      <StageBars stages={stages} label="Stages of the request" />
    </Panel>
  );
}

const REDRAW_MS = 250;

function RequestPanel({ request }: PartProps): JSX.Element {
  const { userReference, status, dwalletId } = request;
  return (
    <Panel title="Request">
      <Facts
        facts={[
          ["Id", <Id id={request.signRequestId} what="sign request id" isWhole />],
          ["User", userReference === undefined ? NO_USER : <UserLink reference={userReference} />],
          ["dWallet", <Id id={dwalletId} what="dWallet id" href={`#/dwallets/${dwalletId}`} isWhole />],
          ...algorithmFacts(request),
          ["Message", <Message bytes={request.message} />],
          ["Requested", <Time of={request.createTime} />],
          ["Reserved until", status === Status.prepared ? <Time of={request.expireTime} /> : undefined],
        ]}
      />
    </Panel>
  );
}

const NO_USER = <span class="muted">none: the dWallet belongs to no user</span>;

function ChainPanel({ request }: PartProps): JSX.Element {
  const { network } = useSession();
  const { signature } = request;
  return (
    <Panel title="Signature and chain">
      <Facts
        facts={[
          [
            "Signature",
            signature === undefined ? (
              <span class="muted">{isFinal(request) ? "none" : "none yet"}</span>
            ) : (
              <Id id={formatHex(signature)} what="signature" isWhole />
            ),
          ],
          ...chainFacts(request, network),
        ]}
      />
    </Panel>
  );
}

function MoneyPanel({ request }: PartProps): JSX.Element {
  const price = formatMoney(request.priceMicroUsd);
  return (
    <Panel title="Ledger" note={moneyNote(request, price)}>
      <DataTable
        caption="Ledger entries of the request"
        columns={ENTRY_COLUMNS}
        rows={ledgerEntriesOf(request)}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No entries">
            {isFinal(request)
              ? `The hold of ${price} was released, and nothing was charged.`
              : `${price} is held, and charged once the half arrives.`}
          </Empty>
        }
      />
    </Panel>
  );
}

function moneyNote(request: SignRequest, price: string): string | undefined {
  const { failure } = request;
  if (failure === undefined || ledgerEntriesOf(request).length === 0) return undefined;
  if (!failure.refunded) return `${price} was charged and not refunded.`;
  const kept = keptOf(request);
  return kept === 0n
    ? `${price} was charged and refunded.`
    : `${price} was charged and refunded without ${formatMoney(kept)}, the price of the hold.`;
}

const ENTRY_COLUMNS: readonly DataColumn<StoryEntry>[] = [
  { title: "Kind", cell: ({ amountMicroUsd }) => (amountMicroUsd < 0n ? "charge" : "refund") },
  { title: "Entry", cell: ({ id }) => <Id id={id} what="ledger entry id" href="#/balance" /> },
  { title: "Booked", cell: ({ time }) => <Time of={time} otherwise="with the half" /> },
  {
    title: "Change",
    isNumber: true,
    cell: ({ amountMicroUsd }) => (
      <span class={amountMicroUsd > 0n ? "gain" : undefined}>{formatMoneyChange(amountMicroUsd)}</span>
    ),
  },
];

/** Formats a message as text if it is printable, otherwise as hex. Truncates a long message. */
function Message({ bytes }: { readonly bytes: Uint8Array }): JSX.Element {
  const shown = bytes.subarray(0, MESSAGE_SHOWN_BYTES);
  const isText = shown.every((byte) => byte >= 0x20 && byte < 0x7f);
  const text = isText ? new TextDecoder().decode(shown) : `0x${formatHex(shown)}`;
  return (
    <>
      <code class="wrap">
        {text}
        {shown.length < bytes.length && "…"}
      </code>{" "}
      <span class="muted">{bytes.length.toLocaleString("en")} bytes</span>
    </>
  );
}

const MESSAGE_SHOWN_BYTES = 256;

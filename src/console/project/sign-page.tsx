import type { JSX } from "preact";
import { type SignRequest, SignRequest_Status as Status } from "../../../gen/client/tss/v1/signing_pb.ts";
import { HashSchema, SignatureAlgorithmSchema } from "../../../gen/client/tss/v1/types_pb.ts";
import { useSession } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { useSignRequests } from "../api/use-sign-requests.ts";
import { enumName, formatHex, formatMoney } from "../format/text.ts";
import type { PageProps } from "../route.ts";
import { Facts } from "../ui/facts.tsx";
import { Icon } from "../ui/icon.tsx";
import { ChainId, Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Panel } from "../ui/panel.tsx";
import { Time } from "../ui/time.tsx";
import { ReceiptPanel } from "./receipt-panel.tsx";
import { SignState } from "./state-badges.tsx";

/** One sign request, followed until it is final. */
export function SignPage({ id }: PageProps): JSX.Element {
  const { signing } = useSession();
  const request = useCall((signal) => signing.getSign({ signRequestId: id }, { signal }), [id]);
  const [newest] = useSignRequests(request.data === undefined ? [] : [request.data]);
  return (
    <PageFrame title="Sign request" lead={<a href="#/signs">All sign requests</a>}>
      <Loaded call={request} lines={8}>
        {(found) => <Parts request={newest ?? found} />}
      </Loaded>
    </PageFrame>
  );
}

function Parts({ request }: { readonly request: SignRequest }): JSX.Element {
  const { network, scopes } = useSession();
  const may = (scope: string): boolean => scopes === undefined || scopes.includes(scope);
  const { failure, signature, txDigest, signSessionId } = request;
  return (
    <>
      <Panel title="Progress">
        <SignSteps status={request.status} />
        <p role="status">
          <SignState of={request} /> {failure?.message}
          {failure !== undefined &&
            (failure.refunded ? " The price was refunded." : " Nothing was refunded.")}
        </p>
      </Panel>
      <Panel title="Request">
        <Facts
          facts={[
            ["Id", <Id id={request.signRequestId} what="sign request id" isWhole />],
            [
              "dWallet",
              <Id
                id={request.dwalletId}
                what="dWallet id"
                href={`#/dwallets/${request.dwalletId}`}
                isWhole
              />,
            ],
            ["Algorithm", enumName(SignatureAlgorithmSchema, request.signatureAlgorithm)],
            ["Hash", enumName(HashSchema, request.hashScheme)],
            ["Message", <Message bytes={request.message} />],
            ["Price", formatMoney(request.priceMicroUsd)],
            ["Requested", <Time of={request.createTime} />],
            ["Changed", <Time of={request.updateTime} />],
            ["Reserved until", <Time of={request.expireTime} />],
          ]}
        />
      </Panel>
      <Panel title="Result">
        <Facts
          facts={[
            [
              "Signature",
              signature === undefined ? (
                <span class="muted">none yet</span>
              ) : (
                <Id id={formatHex(signature)} what="signature" isWhole />
              ),
            ],
            [
              "Transaction",
              txDigest && (
                <ChainId id={txDigest} what="transaction digest" kind="tx" network={network} isWhole />
              ),
            ],
            [
              "Sign session",
              signSessionId && (
                <ChainId id={signSessionId} what="sign session id" kind="object" network={network} isWhole />
              ),
            ],
            [
              "Presign",
              <ChainId id={request.presignId} what="presign id" kind="object" network={network} isWhole />,
            ],
          ]}
        />
      </Panel>
      {request.status === Status.completed && may("billing") && <ReceiptPanel request={request} />}
    </>
  );
}

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

/** The progress of a sign request: its past states and the current one. */
export function SignSteps({ status }: { readonly status: Status }): JSX.Element {
  return (
    <ol class="steps">
      {STEPS.map(([step, title, note]) => {
        const place = status === Status.failed ? "later" : placeOf(step, status);
        return (
          <li key={step} class={`step step-${place}`} aria-current={place === "now" ? "step" : undefined}>
            <Icon name={place === "done" ? "check" : place === "now" ? "clock" : "circle"} />
            <span>
              <strong>{title}</strong>
              <span class="small muted">{note}</span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}

const STEPS: readonly (readonly [Status, string, string])[] = [
  [Status.prepared, "Prepared", "a presign is reserved, the price held"],
  [Status.queued, "Queued", "the user's half is checked, the price charged"],
  [Status.submitted, "Submitted", "the transaction is final"],
  [Status.completed, "Completed", "the signature is verified"],
];

function placeOf(step: Status, status: Status): "done" | "now" | "later" {
  if (step < status || status === Status.completed) return "done";
  return step === status ? "now" : "later";
}

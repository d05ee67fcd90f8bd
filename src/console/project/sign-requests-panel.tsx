import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  type SignRequest,
  SignRequest_StatusSchema,
  type SignRequest_Status as Status,
} from "../../../gen/client/tss/v1/signing_pb.ts";
import { SignatureAlgorithmSchema } from "../../../gen/client/tss/v1/types_pb.ts";
import { useSession } from "../api/session.ts";
import { usePages } from "../api/use-pages.ts";
import { useSignRequests } from "../api/use-sign-requests.ts";
import { enumName, formatMoney, shortId } from "../format/text.ts";
import { type DataColumn, DataTable, Pager } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { enumOptions, SelectField } from "../ui/field.tsx";
import { Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Panel } from "../ui/panel.tsx";
import { Time } from "../ui/time.tsx";
import { isOneOf, useUrlFilter } from "../ui/use-url-filter.ts";
import { SignState } from "./state-badges.tsx";

const STATES = [["", "all"], ...enumOptions(SignRequest_StatusSchema)] as const;

/** Live sign requests, of one dWallet or one user if it is given: polls the list, and follows open requests. */
export function SignRequestsPanel({ dwalletId, userReference }: SignRequestsPanelProps): JSX.Element {
  const { signing } = useSession();
  const [status, setStatus] = useUrlFilter("state", "", isOneOf(STATES));
  const requests = usePages(
    async (pageToken, signal) => {
      const filter = {
        ...(dwalletId !== undefined && { dwalletId }),
        ...(userReference !== undefined && { userReference }),
        ...(status !== "" && { status: Number(status) as Status }),
      };
      const reply = await signing.listSigns({ ...filter, pageToken }, { signal });
      return { items: reply.signRequests, nextPageToken: reply.nextPageToken };
    },
    [dwalletId, userReference, status],
    { everyMs: LIST_MS },
  );
  const newest = useSignRequests(requests.data?.items ?? []);
  return (
    <Panel
      title="Sign requests"
      note="Newest first. Open requests update live."
      actions={<SelectField label="State" options={STATES} value={status} isInline onSelect={setStatus} />}
    >
      <Announcer requests={newest} />
      <Loaded call={requests} lines={6}>
        {() => (
          <DataTable
            caption="Sign requests"
            columns={COLUMNS}
            rows={newest}
            rowKey={({ signRequestId }) => signRequestId}
            empty={<Empty title="No sign requests">New requests appear here automatically.</Empty>}
          />
        )}
      </Loaded>
      <Pager pages={requests} of="sign requests" />
    </Panel>
  );
}

interface SignRequestsPanelProps {
  readonly dwalletId?: string;
  readonly userReference?: string;
}

const LIST_MS = 3_000;

/** Announces changed requests to a screen reader. The table itself is not announced. */
function Announcer({ requests }: { readonly requests: readonly SignRequest[] }): JSX.Element {
  const known = useRef<ReadonlyMap<string, Status>>(new Map());
  const [text, setText] = useState("");
  const states = requests.map(({ signRequestId, status }) => `${signRequestId}:${status}`).join();
  useEffect(() => {
    const changed = requests.find(
      ({ signRequestId, status }) => known.current.size > 0 && known.current.get(signRequestId) !== status,
    );
    known.current = new Map(requests.map(({ signRequestId, status }) => [signRequestId, status]));
    if (changed !== undefined)
      setText(
        `Sign request ${shortId(changed.signRequestId)}: ${enumName(SignRequest_StatusSchema, changed.status)}`,
      );
  }, [states]);
  return (
    <p class="visually-hidden" role="status">
      {text}
    </p>
  );
}

const COLUMNS: readonly DataColumn<SignRequest>[] = [
  {
    title: "Request",
    cell: ({ signRequestId }) => (
      <Id id={signRequestId} what="sign request id" href={`#/signs/${signRequestId}`} />
    ),
  },
  { title: "State", cell: (request) => <SignState of={request} /> },
  {
    title: "Algorithm",
    cell: ({ signatureAlgorithm }) => enumName(SignatureAlgorithmSchema, signatureAlgorithm),
  },
  {
    title: "dWallet",
    cell: ({ dwalletId }) => <Id id={dwalletId} what="dWallet id" href={`#/dwallets/${dwalletId}`} />,
  },
  { title: "Price", isNumber: true, cell: ({ priceMicroUsd }) => formatMoney(priceMicroUsd) },
  { title: "Requested", cell: ({ createTime }) => <Time of={createTime} /> },
  { title: "Changed", cell: ({ updateTime }) => <Time of={updateTime} /> },
];

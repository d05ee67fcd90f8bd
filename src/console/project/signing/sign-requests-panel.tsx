import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  type SignRequest,
  SignRequest_StatusSchema,
  type SignRequest_Status as Status,
} from "../../../../gen/client/tss/v1/signing_pb.ts";
import { SignatureAlgorithmSchema } from "../../../../gen/client/tss/v1/types_pb.ts";
import { isOneOf, useUrlFilter } from "../../address/use-url-filter.ts";
import { useSession } from "../../api/session.ts";
import { usePages } from "../../api/use-pages.ts";
import { useSignRequests } from "../../api/use-sign-requests.ts";
import { Empty } from "../../design/empty.tsx";
import { enumOptions, SelectField } from "../../design/form/field.tsx";
import { Panel } from "../../design/panel.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { enumName, formatMoney, plainMoney, plainTime, shortId } from "../../format/text.ts";
import { SignState } from "../../signing/state-badges.tsx";
import { UserLink } from "../access/user-link.tsx";

const HELD = "held";
const STATES = [["", "all"], [HELD, "held"], ...enumOptions(SignRequest_StatusSchema)] as const;

/** Live sign requests, of one dWallet or one user if it is given: polls the list, and follows open requests. */
export function SignRequestsPanel(props: SignRequestsPanelProps): JSX.Element {
  const { dwalletId, userReference, isWholePage = false } = props;
  const { signing } = useSession();
  const [status, setStatus] = useUrlFilter("state", "", isOneOf(STATES));
  const requests = usePages(
    "signs",
    async (at, signal) => {
      const filter = {
        ...(dwalletId !== undefined && { dwalletId }),
        ...(userReference !== undefined && { userReference }),
        ...(status === HELD ? { held: true } : status !== "" && { status: Number(status) as Status }),
      };
      const reply = await signing.listSigns({ ...filter, ...at }, { signal });
      return { items: reply.signRequests, nextPageToken: reply.nextPageToken };
    },
    [dwalletId, userReference, status],
    { everyMs: LIST_MS },
  );
  const newest = useSignRequests(requests.data?.items ?? []);
  return (
    <Panel title="Sign requests" note="Newest first. Open requests update live." isNamedByPage={isWholePage}>
      <Announcer requests={newest} />
      <ListTable
        caption="Sign requests"
        columns={columnsOf(props)}
        rows={newest}
        rowKey={({ signRequestId }) => signRequestId}
        empty={<Empty title="No sign requests">New requests appear here automatically.</Empty>}
        pages={requests}
        lines={6}
        filter={
          <div class="filters">
            <SelectField label="State" options={STATES} value={status} onSelect={setStatus} />
          </div>
        }
      />
    </Panel>
  );
}

interface SignRequestsPanelProps {
  readonly dwalletId?: string;
  readonly userReference?: string;
  /** True if the page has nothing else and names the list. */
  readonly isWholePage?: boolean;
}

/** The columns without those that are the same in each row. */
function columnsOf({ dwalletId, userReference }: SignRequestsPanelProps): readonly DataColumn<SignRequest>[] {
  const same = [dwalletId !== undefined && ["dWallet", "User"], userReference !== undefined && ["User"]];
  const hidden = same.flatMap((titles) => titles || []);
  return COLUMNS.filter(({ title }) => !hidden.includes(title));
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
    text: ({ signRequestId }) => signRequestId,
  },
  {
    title: "State",
    cell: (request) => <SignState of={request} />,
    text: ({ status }) => enumName(SignRequest_StatusSchema, status),
  },
  {
    title: "Algorithm",
    cell: ({ signatureAlgorithm }) => enumName(SignatureAlgorithmSchema, signatureAlgorithm),
    text: ({ signatureAlgorithm }) => enumName(SignatureAlgorithmSchema, signatureAlgorithm),
  },
  {
    title: "dWallet",
    cell: ({ dwalletId }) => <Id id={dwalletId} what="dWallet id" href={`#/dwallets/${dwalletId}`} />,
    text: ({ dwalletId }) => dwalletId,
  },
  {
    title: "User",
    cell: ({ userReference }) =>
      userReference === undefined ? <span class="muted">—</span> : <UserLink reference={userReference} />,
    text: ({ userReference }) => userReference ?? "",
  },
  {
    title: "Price",
    isNumber: true,
    cell: ({ priceMicroUsd }) => formatMoney(priceMicroUsd),
    text: ({ priceMicroUsd }) => plainMoney(priceMicroUsd),
  },
  {
    title: "Requested",
    cell: ({ createTime }) => <Time of={createTime} />,
    text: ({ createTime }) => plainTime(createTime),
  },
  {
    title: "Changed",
    cell: ({ updateTime }) => <Time of={updateTime} />,
    text: ({ updateTime }) => plainTime(updateTime),
  },
];

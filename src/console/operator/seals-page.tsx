import type { JSX } from "preact";
import type { AuditSeal } from "../../../gen/client/tss/v1/audit_pb.ts";
import { useSession } from "../api/session.ts";
import { usePages } from "../api/use-pages.ts";
import { formatHex } from "../format/text.ts";
import { Badge } from "../ui/badge.tsx";
import { type DataColumn, DataTable, Pager } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Time } from "../ui/time.tsx";

export function SealsPage(): JSX.Element {
  const { everyNetwork, networks } = useSession();
  const seals = usePages(async (pageToken, signal) => {
    const reply = await everyNetwork.admin.listAuditSeals({ pageToken }, { signal });
    return { items: reply.auditSeals, nextPageToken: reply.nextPageToken };
  }, []);
  return (
    <PageFrame
      title="Seals"
      lead={`Each seal covers its entries and all before them${networks.length > 1 ? ", of all networks" : ""}. Record the newest hash where the database's owner cannot change it.`}
      actions={
        <a class="button" href="#/audit">
          Audit trail
        </a>
      }
    >
      <section class="panel">
        <Loaded call={seals} lines={6}>
          {({ items }) => (
            <DataTable
              caption="Seals of the audit trail"
              columns={COLUMNS}
              rows={items}
              rowKey={({ number }) => `${number}`}
              empty={
                <Empty title="No seals yet">Events are sealed a few seconds after they are written.</Empty>
              }
            />
          )}
        </Loaded>
        <Pager pages={seals} of="seals" />
      </section>
    </PageFrame>
  );
}

const COLUMNS: readonly DataColumn<AuditSeal>[] = [
  { title: "Seal", isNumber: true, cell: ({ number }) => `${number}` },
  { title: "Sealed", cell: ({ createTime }) => <Time of={createTime} /> },
  {
    title: "Entries",
    isNumber: true,
    cell: ({ firstSequence, lastSequence }) =>
      firstSequence === lastSequence ? `${firstSequence}` : `${firstSequence} – ${lastSequence}`,
  },
  { title: "Hash", cell: ({ sealHash }) => <Id id={formatHex(sealHash)} what="seal hash" /> },
  {
    title: "Signed",
    cell: ({ signature }) =>
      signature.length === 0 ? <Badge tone="none">not signed</Badge> : <Badge tone="good">signed</Badge>,
  },
];

import type { JSX } from "preact";
import type { AuditSeal } from "../../../../gen/client/tss/v1/audit_pb.ts";
import { useSession } from "../../api/session.ts";
import { usePages } from "../../api/use-pages.ts";
import { Empty } from "../../design/empty.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { formatHex, plainTime } from "../../format/text.ts";

export function SealsPage(): JSX.Element {
  const { everyNetwork, networks } = useSession();
  const seals = usePages(
    "seals",
    async (at, signal) => {
      const reply = await everyNetwork.admin.listAuditSeals({ ...at }, { signal });
      return { items: reply.auditSeals, nextPageToken: reply.nextPageToken };
    },
    [],
  );
  return (
    <PageFrame
      title="Seals"
      lead={`Each seal covers its entries and all before them${networks.length > 1 ? ", of all networks" : ""}. Record the newest hash where the database's owner cannot change it.`}
      up={{ href: "#/audit", title: "Audit trail" }}
    >
      <section class="panel">
        <ListTable
          caption="Seals of the audit trail"
          columns={COLUMNS}
          rowKey={({ number }) => `${number}`}
          empty={<Empty title="No seals yet">Events are sealed a few seconds after they are written.</Empty>}
          pages={seals}
          lines={6}
        />
      </section>
    </PageFrame>
  );
}

const COLUMNS: readonly DataColumn<AuditSeal>[] = [
  { title: "Seal", cell: ({ number }) => `${number}`, text: ({ number }) => `${number}` },
  {
    title: "Sealed",
    cell: ({ createTime }) => <Time of={createTime} />,
    text: ({ createTime }) => plainTime(createTime),
  },
  {
    title: "Entries",
    cell: ({ firstSequence, lastSequence }) =>
      firstSequence === lastSequence ? `${firstSequence}` : `${firstSequence} – ${lastSequence}`,
    text: ({ firstSequence, lastSequence }) => `${firstSequence} to ${lastSequence}`,
  },
  {
    title: "Hash",
    cell: ({ sealHash }) => <Id id={formatHex(sealHash)} what="seal hash" />,
    text: ({ sealHash }) => formatHex(sealHash),
  },
  {
    title: "Signed",
    cell: ({ signature }) =>
      signature.length === 0 ? <Badge tone="none">not signed</Badge> : <Badge tone="good">signed</Badge>,
    text: ({ signature }) => (signature.length === 0 ? "not signed" : "signed"),
  },
];

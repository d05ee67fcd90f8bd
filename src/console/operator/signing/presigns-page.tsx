import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PresignBucket } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../design/empty.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { Id } from "../../design/value/id.tsx";
import { PresignHistoryPanel } from "./presign-history-panel.tsx";
import { RefillAllDialog } from "./refill-all-dialog.tsx";
import { RefillDialog } from "./refill-dialog.tsx";

/** The current buckets of the presign pool. */
export function PresignsPage(): JSX.Element {
  const { admin } = useSession();
  const [refilled, setRefilled] = useState<PresignBucket | "all">();
  const health = useCall((signal) => admin.getPresignHealth({}, { signal }), [], { everyMs: 5_000 });
  const columns: readonly DataColumn<PresignBucket>[] = [
    ...COLUMNS,
    {
      title: "Actions",
      cell: (bucket) => (
        <button type="button" class="button button-small" onClick={() => setRefilled(bucket)}>
          Refill<span class="visually-hidden"> {bucket.signatureAlgorithmName}</span>
        </button>
      ),
    },
  ];
  return (
    <PageFrame
      title="Presigns"
      actions={
        (health.data?.buckets.length ?? 0) > 1 && (
          <button type="button" class="button" onClick={() => setRefilled("all")}>
            Refill all
          </button>
        )
      }
      lead="Every signature uses one presign. A bucket below its low water refills up to its high water."
    >
      <Panel title="Pool now">
        <Loaded call={health}>
          {({ buckets }) => (
            <DataTable
              caption="Buckets of the presign pool"
              columns={columns}
              rows={buckets}
              rowKey={keyOf}
              empty={
                <Empty title="No buckets yet">The first signature of an algorithm opens its bucket.</Empty>
              }
            />
          )}
        </Loaded>
      </Panel>
      <PresignHistoryPanel />
      {refilled === "all" && (
        <RefillAllDialog
          buckets={health.data?.buckets ?? []}
          onClose={() => setRefilled(undefined)}
          onRefilled={health.reload}
        />
      )}
      {refilled !== undefined && refilled !== "all" && (
        <RefillDialog
          bucket={refilled}
          onClose={() => setRefilled(undefined)}
          onRefilled={() => {
            setRefilled(undefined);
            health.reload();
          }}
        />
      )}
    </PageFrame>
  );
}

const keyOf = (bucket: PresignBucket): string =>
  [bucket.networkEncryptionKeyId, bucket.curve, bucket.signatureAlgorithm].join(":");

const COLUMNS: readonly DataColumn<PresignBucket>[] = [
  {
    title: "Bucket",
    cell: ({ curveName, signatureAlgorithmName }) => (
      <>
        {signatureAlgorithmName} <span class="muted">{curveName}</span>
      </>
    ),
  },
  { title: "State", cell: stateOf },
  { title: "Ready", isNumber: true, cell: ({ ready }) => ready },
  { title: "Pending", isNumber: true, cell: ({ pending }) => pending },
  { title: "Held", isNumber: true, cell: ({ held }) => held },
  { title: "Used", isNumber: true, cell: ({ used }) => used },
  { title: "Burnt", isNumber: true, cell: ({ burnt }) => burnt },
  { title: "Low – high", isNumber: true, cell: ({ lowWater, highWater }) => `${lowWater} – ${highWater}` },
  {
    title: "Network key",
    cell: ({ networkEncryptionKeyId }) => <Id id={networkEncryptionKeyId} what="network encryption key id" />,
  },
];

function stateOf({ ready, pending, lowWater }: PresignBucket): JSX.Element {
  if (ready === 0 && pending === 0) return <Badge tone="none">cold</Badge>;
  if (ready === 0) return <Badge tone="bad">out of stock</Badge>;
  return ready < lowWater ? <Badge tone="warn">low</Badge> : <Badge tone="good">stocked</Badge>;
}

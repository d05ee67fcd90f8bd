import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PresignBucket } from "../../../gen/client/tss/v1/admin_pb.ts";
import { useOnNetwork, useSession } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { countFault } from "../format/input-faults.ts";
import { Badge } from "../ui/badge.tsx";
import { type DataColumn, DataTable } from "../ui/data-table.tsx";
import { ActionDialog } from "../ui/dialog.tsx";
import { Empty } from "../ui/empty.tsx";
import { TextField } from "../ui/field.tsx";
import { Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Panel } from "../ui/panel.tsx";
import { PresignHistoryPanel } from "./presign-history-panel.tsx";

/** The current buckets of the presign pool. */
export function PresignsPage(): JSX.Element {
  const { admin } = useSession();
  const [refilled, setRefilled] = useState<PresignBucket>();
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
      {refilled !== undefined && (
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

/** Requests presigns for a bucket in addition to the automatic refill. */
export function RefillDialog({ bucket, onClose, onRefilled }: RefillDialogProps): JSX.Element {
  const { admin } = useSession();
  const onNetwork = useOnNetwork();
  const { curve, signatureAlgorithm, signatureAlgorithmName } = bucket;
  const [count, setCount] = useState("1");
  return (
    <ActionDialog
      title={`Refill ${signatureAlgorithmName}${onNetwork}`}
      action="Request the presigns"
      isReady={count !== "" && countFault(count, REFILL_MAX_COUNT) === undefined}
      onClose={onClose}
      onAct={async () => {
        await admin.refillPresigns({ curve, signatureAlgorithm, count: Number(count) });
        onRefilled();
      }}
    >
      <TextField
        label="Number of presigns"
        value={count}
        onInput={setCount}
        inputMode="numeric"
        required
        autofocus
        fault={countFault(count, REFILL_MAX_COUNT)}
        hint="1 to 100. The Treasury pays Ika's fee for each."
      />
    </ActionDialog>
  );
}

const REFILL_MAX_COUNT = 100;

interface RefillDialogProps {
  readonly bucket: PresignBucket;
  onClose(): void;
  onRefilled(): void;
}

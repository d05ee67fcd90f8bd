import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PresignBucket } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { eachInTurn } from "../../api/each-in-turn.ts";
import { useOnNetwork, useSession } from "../../api/session.ts";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { TextField } from "../../design/form/field.tsx";
import { missingText } from "../../format/form-state.ts";
import { countFault } from "../../format/input-faults.ts";
import { formatCount } from "../../format/text.ts";
import { REFILL_MAX_COUNT } from "./refill-dialog.tsx";

/** Requests presigns of every kind that has a bucket, in addition to the automatic refill. */
export function RefillAllDialog({ buckets: all, onClose, onRefilled }: RefillAllDialogProps): JSX.Element {
  const { admin } = useSession();
  const onNetwork = useOnNetwork();
  const [count, setCount] = useState("1");
  // Another count is another wish, of which nothing is done yet.
  const [done, setDone] = useState(() => new Set<string>());
  // A kind has a bucket for each network key, and a refill goes to the newest.
  const buckets = [...new Map(all.map((bucket) => [kindOf(bucket), bucket])).values()];
  const fault = countFault(count, REFILL_MAX_COUNT);
  const total = fault === undefined ? Number(count) * buckets.length : 0;
  return (
    <ActionDialog
      title={`Refill all buckets${onNetwork}`}
      action={total === 0 ? "Request the presigns" : `Request ${formatCount(total)} presigns`}
      missing={missingText({ required: [["Presigns for each bucket", count]], faults: [fault] })}
      onClose={() => {
        if (done.size > 0) onRefilled();
        onClose();
      }}
      onAct={async () => {
        await eachInTurn(buckets.map(kindOf), done, async (kind) => {
          const { curve, signatureAlgorithm } = buckets.find((bucket) => kindOf(bucket) === kind)!;
          await admin.refillPresigns({ curve, signatureAlgorithm, count: Number(count) });
        });
        onRefilled();
        onClose();
      }}
    >
      <TextField
        label="Presigns for each bucket"
        value={count}
        onInput={(text) => {
          setCount(text);
          setDone(new Set());
        }}
        inputMode="numeric"
        required
        autofocus
        fault={fault}
        hint="1 to 100. The Treasury pays Ika's fee for each."
      />
      <ul class="plain-list">
        {buckets.map((bucket) => (
          <li key={kindOf(bucket)}>
            {bucket.signatureAlgorithmName} <span class="muted">{bucket.curveName}</span>:{" "}
            {formatCount(bucket.ready)} ready, {formatCount(bucket.pending)} on the way
          </li>
        ))}
      </ul>
    </ActionDialog>
  );
}

const kindOf = ({ curve, signatureAlgorithm }: PresignBucket): string => `${curve}:${signatureAlgorithm}`;

interface RefillAllDialogProps {
  readonly buckets: readonly PresignBucket[];
  onClose(): void;
  /** Called once presigns are requested. */
  onRefilled(): void;
}

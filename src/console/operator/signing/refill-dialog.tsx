import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PresignBucket } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { useOnNetwork, useSession } from "../../api/session.ts";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { TextField } from "../../design/form/field.tsx";
import { missingText } from "../../format/form-state.ts";
import { countFault } from "../../format/input-faults.ts";

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
      missing={missingText({
        required: [["Number of presigns", count]],
        faults: [countFault(count, REFILL_MAX_COUNT)],
      })}
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

/** The most presigns that one call requests. */
export const REFILL_MAX_COUNT = 100;

interface RefillDialogProps {
  readonly bucket: PresignBucket;
  onClose(): void;
  onRefilled(): void;
}

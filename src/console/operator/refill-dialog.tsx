import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PresignBucket } from "../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../api/session-context.ts";
import { useOnNetwork } from "../api/use-on-network.ts";
import { countFault } from "../format/input-faults.ts";
import { ActionDialog } from "../ui/action-dialog.tsx";
import { TextField } from "../ui/field.tsx";

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

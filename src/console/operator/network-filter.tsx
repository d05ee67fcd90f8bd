import type { JSX } from "preact";
import { useSession } from "../api/session.ts";
import { SelectField } from "../design/form/field.tsx";

/** Chooses whether a list shows only the chosen network or all networks. Absent if the service has only one. */
export function NetworkFilter({ isOverAll, onSelect }: NetworkFilterProps): JSX.Element | null {
  const { network, networks } = useSession();
  if (networks.length === 1) return null;
  return (
    <SelectField
      label="Networks"
      options={[
        ["chosen", `${network} alone`],
        ["all", "all networks"],
      ]}
      value={isOverAll ? "all" : "chosen"}
      onSelect={(wanted) => onSelect(wanted === "all")}
    />
  );
}

interface NetworkFilterProps {
  readonly isOverAll: boolean;
  onSelect(isOverAll: boolean): void;
}

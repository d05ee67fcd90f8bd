import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useUrlFilter } from "../../address/use-url-filter.ts";
import { DateField, TextField } from "../../design/form/field.tsx";
import { actionFault, actorFault, lastDayFault, projectIdFault } from "../../format/input-faults.ts";
import { NetworkFilter } from "../network-filter.tsx";

/** Which events the audit trail shows. An empty text means all. */
export interface AuditFilter {
  readonly projectId: string;
  readonly actor: string;
  /** Such as `api_key.revoke`. */
  readonly action: string;
  /** The first day in UTC, as `2027-01-31`. */
  readonly from: string;
  /** The last day in UTC. */
  readonly to: string;
}

/** Keeps the filter of the audit trail in the page's address. */
export function useAuditFilter(): {
  readonly filter: AuditFilter;
  /** The filter in the form of ListAuditEvents. */
  readonly request: AuditRequest;
  readonly networks: Networks;
  filterBy(filter: Partial<AuditFilter> & { readonly networks?: Networks }): void;
} {
  const [networks, setNetworks] = useUrlFilter<Networks>("networks", "chosen", (value) => value === "all");
  const [projectId, setProjectId] = useUrlFilter("project", "", (id) => projectIdFault(id) === undefined);
  const [actor, setActor] = useUrlFilter("actor", "", (text) => actorFault(text) === undefined);
  const [action, setAction] = useUrlFilter("action", "", (text) => actionFault(text) === undefined);
  const [from, setFrom] = useUrlFilter("from", "", isDay);
  const [to, setTo] = useUrlFilter("to", "", isDay);
  const setters = {
    networks: setNetworks,
    projectId: setProjectId,
    actor: setActor,
    action: setAction,
    from: setFrom,
    to: setTo,
  };
  const filter = { projectId, actor, action, from, to };
  return {
    filter,
    request: requestOf(filter),
    networks,
    filterBy(wanted) {
      const before = location.hash;
      // All changes are one step of the back button.
      for (const [name, value] of Object.entries(wanted))
        setters[name as keyof typeof setters](value as never, location.hash === before ? "push" : "replace");
    },
  };
}

type Networks = "chosen" | "all";

interface AuditRequest {
  readonly projectId?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly startTime?: Timestamp;
  readonly endTime?: Timestamp;
}

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));

const DAY_MS = 86_400_000;

function requestOf({ projectId, actor, action, from, to }: AuditFilter): AuditRequest {
  const isSpan = lastDayFault(from, to) === undefined;
  return {
    ...(projectId !== "" && { projectId }),
    ...(actor !== "" && { actor }),
    ...(action !== "" && { action }),
    ...(from !== "" && isSpan && { startTime: timestampFromMs(Date.parse(from)) }),
    ...(to !== "" && isSpan && { endTime: timestampFromMs(Date.parse(to) + DAY_MS) }),
  };
}

/** The fields of the filter, which apply together when they are sent. */
export function AuditFilterForm({ filter, networks, onFilter }: AuditFilterFormProps): JSX.Element {
  const [wanted, setWanted] = useState(filter);
  // Back, and a button beside a row, change the filter too.
  useEffect(() => setWanted(filter), Object.values(filter));
  const faults = {
    projectId: projectIdFault(wanted.projectId),
    actor: actorFault(wanted.actor),
    action: actionFault(wanted.action),
    to: lastDayFault(wanted.from, wanted.to),
  };
  const field = (name: keyof AuditFilter) => ({
    value: wanted[name],
    onInput: (text: string) => setWanted({ ...wanted, [name]: text }),
  });
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (Object.values(faults).some((fault) => fault !== undefined)) return;
        const { projectId, actor, action, from, to } = wanted;
        onFilter({ projectId: projectId.trim(), actor: actor.trim(), action: action.trim(), from, to });
      }}
    >
      <TextField label="Project id" {...field("projectId")} fault={faults.projectId} />
      <TextField label="Actor" {...field("actor")} fault={faults.actor} />
      <TextField label="Action" {...field("action")} fault={faults.action} />
      <DateField label="First day (UTC)" {...field("from")} />
      <DateField label="Last day (UTC)" {...field("to")} fault={faults.to} />
      <button type="submit" class="button">
        Filter
      </button>
      {Object.values(filter).some((value) => value !== "") && (
        <button type="button" class="button" onClick={() => onFilter(EVERYTHING)}>
          Show all
        </button>
      )}
      <NetworkFilter
        isOverAll={networks === "all"}
        onSelect={(isAll) => onFilter({ networks: isAll ? "all" : "chosen" })}
      />
    </form>
  );
}

const EVERYTHING: AuditFilter = { projectId: "", actor: "", action: "", from: "", to: "" };

interface AuditFilterFormProps {
  readonly filter: AuditFilter;
  readonly networks: Networks;
  onFilter(filter: Partial<AuditFilter> & { readonly networks?: Networks }): void;
}

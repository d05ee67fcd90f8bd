import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Project } from "../../../gen/client/tss/v1/admin_pb.ts";
import { useOnNetwork, useSession } from "../api/session.ts";
import { useIdempotencyKey } from "../api/use-call.ts";
import { usePages } from "../api/use-pages.ts";
import { nameFault } from "../format/input-faults.ts";
import { formatMoney } from "../format/text.ts";
import { type DataColumn, DataTable, Pager } from "../ui/data-table.tsx";
import { ActionDialog } from "../ui/dialog.tsx";
import { Empty } from "../ui/empty.tsx";
import { TextField } from "../ui/field.tsx";
import { Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Time } from "../ui/time.tsx";
import { addressOn, goTo } from "../ui/use-route.ts";
import { useUrlFilter } from "../ui/use-url-filter.ts";
import { NetworkFilter } from "./network-filter.tsx";

/** The projects of the chosen network, or of all networks. */
export function ProjectsPage(): JSX.Element {
  const session = useSession();
  const { network, networks } = session;
  const [networksShown, setNetworksShown] = useUrlFilter("networks", "chosen", (value) => value === "all");
  const isOverAll = networksShown === "all";
  const [isCreating, setIsCreating] = useState(false);
  const projects = usePages(
    async (pageToken, signal) => {
      const { admin } = isOverAll ? session.everyNetwork : session;
      const reply = await admin.listProjects({ pageToken }, { signal });
      return { items: reply.projects, nextPageToken: reply.nextPageToken };
    },
    [isOverAll],
    { everyMs: 15_000 },
  );
  const create = (
    <button type="button" class="button button-primary" onClick={() => setIsCreating(true)}>
      Create a project
    </button>
  );
  return (
    <PageFrame
      title="Projects"
      lead={`The accounts on ${isOverAll ? "all networks" : network}, newest first.`}
      actions={create}
    >
      <section class="panel">
        <NetworkFilter
          isOverAll={isOverAll}
          onSelect={(isAll) => setNetworksShown(isAll ? "all" : "chosen")}
        />
        <Loaded call={projects} lines={6}>
          {({ items }) => (
            <DataTable
              caption="Projects"
              columns={networks.length > 1 ? COLUMNS_OF_SEVERAL : COLUMNS}
              rows={items}
              rowKey={({ projectId }) => projectId}
              empty={<Empty title="No projects yet">Create one, give it credit and an API key.</Empty>}
            />
          )}
        </Loaded>
        <Pager pages={projects} of="projects" />
      </section>
      {isCreating && (
        <CreateProjectDialog
          onClose={() => setIsCreating(false)}
          onCreated={(id) => {
            location.hash = `#/projects/${id}`;
          }}
        />
      )}
    </PageFrame>
  );
}

const COLUMNS: readonly DataColumn<Project>[] = [
  { title: "Name", cell: (project) => <ProjectLink project={project} /> },
  { title: "Id", cell: ({ projectId }) => <Id id={projectId} what="project id" /> },
  { title: "Balance", isNumber: true, cell: ({ balanceMicroUsd }) => formatMoney(balanceMicroUsd) },
  { title: "Held", isNumber: true, cell: ({ heldMicroUsd }) => formatMoney(heldMicroUsd) },
  { title: "Created", cell: ({ createTime }) => <Time of={createTime} /> },
];

const COLUMNS_OF_SEVERAL: readonly DataColumn<Project>[] = [
  ...COLUMNS.slice(0, 1),
  { title: "Network", cell: ({ network }) => network },
  ...COLUMNS.slice(1),
];

/** A link that also switches to the project's network, without a reload, which would discard the key. */
function ProjectLink({ project: { name, projectId, network } }: ProjectLinkProps): JSX.Element {
  const session = useSession();
  const hash = `#/projects/${projectId}`;
  if (network === session.network) return <a href={hash}>{name}</a>;
  return (
    <a
      href={addressOn(network, hash)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        goTo(network, hash);
      }}
    >
      {name}
    </a>
  );
}

interface ProjectLinkProps {
  readonly project: Project;
}

export function CreateProjectDialog({ onClose, onCreated }: CreateProjectDialogProps): JSX.Element {
  const { admin } = useSession();
  const onNetwork = useOnNetwork();
  const [name, setName] = useState("");
  const headers = useIdempotencyKey([name]);
  return (
    <ActionDialog
      title={`Create a project${onNetwork}`}
      action="Create"
      isReady={name.trim() !== "" && nameFault(name) === undefined}
      onClose={onClose}
      onAct={async () => {
        const { project } = await admin.createProject({ name: name.trim() }, { headers });
        onCreated(project?.projectId ?? "");
      }}
    >
      <TextField label="Name" value={name} onInput={setName} fault={nameFault(name)} required autofocus />
    </ActionDialog>
  );
}

interface CreateProjectDialogProps {
  onClose(): void;
  onCreated(projectId: string): void;
}

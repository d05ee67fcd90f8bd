import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Project } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { addressOn, goTo } from "../../address/use-route.ts";
import { useUrlFilter } from "../../address/use-url-filter.ts";
import { useOnNetwork, useSession } from "../../api/session.ts";
import { useIdempotencyKey } from "../../api/use-call.ts";
import { usePages } from "../../api/use-pages.ts";
import { Empty } from "../../design/empty.tsx";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { TextField } from "../../design/form/field.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Cut } from "../../design/value/cut.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { missingText } from "../../format/form-state.ts";
import { nameFault } from "../../format/input-faults.ts";
import { formatMoney, plainMoney, plainTime } from "../../format/text.ts";
import { NetworkFilter } from "../network-filter.tsx";

/** The projects of the chosen network, or of all networks. */
export function ProjectsPage(): JSX.Element {
  const session = useSession();
  const { network, networks } = session;
  const [networksShown, setNetworksShown] = useUrlFilter("networks", "chosen", (value) => value === "all");
  const isOverAll = networksShown === "all";
  const [isCreating, setIsCreating] = useState(false);
  const projects = usePages(
    "projects",
    async (at, signal) => {
      const { admin } = isOverAll ? session.everyNetwork : session;
      const reply = await admin.listProjects({ ...at }, { signal });
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
        <ListTable
          caption="Projects"
          columns={networks.length > 1 ? COLUMNS_OF_SEVERAL : COLUMNS}
          rowKey={({ projectId }) => projectId}
          empty={<Empty title="No projects yet">Create one, give it credit and an API key.</Empty>}
          pages={projects}
          lines={6}
          filter={
            networks.length > 1 && (
              <div class="filters">
                <NetworkFilter
                  isOverAll={isOverAll}
                  onSelect={(isAll) => setNetworksShown(isAll ? "all" : "chosen")}
                />
              </div>
            )
          }
        />
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
  { title: "Name", cell: (project) => <ProjectLink project={project} />, text: ({ name }) => name },
  {
    title: "Id",
    cell: ({ projectId }) => <Id id={projectId} what="project id" />,
    text: ({ projectId }) => projectId,
  },
  {
    title: "Balance",
    isNumber: true,
    cell: ({ balanceMicroUsd }) => formatMoney(balanceMicroUsd),
    text: ({ balanceMicroUsd }) => plainMoney(balanceMicroUsd),
  },
  {
    title: "Held",
    isNumber: true,
    cell: ({ heldMicroUsd }) => formatMoney(heldMicroUsd),
    text: ({ heldMicroUsd }) => plainMoney(heldMicroUsd),
  },
  {
    title: "Created",
    cell: ({ createTime }) => <Time of={createTime} />,
    text: ({ createTime }) => plainTime(createTime),
  },
];

const COLUMNS_OF_SEVERAL: readonly DataColumn<Project>[] = [
  ...COLUMNS.slice(0, 1),
  { title: "Network", cell: ({ network }) => network, text: ({ network }) => network },
  ...COLUMNS.slice(1),
];

/** A link that also switches to the project's network, without a reload, which would discard the key. */
function ProjectLink({ project: { name, projectId, network } }: ProjectLinkProps): JSX.Element {
  const session = useSession();
  const hash = `#/projects/${projectId}`;
  if (network === session.network)
    return (
      <a href={hash}>
        <Cut text={name} />
      </a>
    );
  return (
    <a
      href={addressOn(network, hash)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        goTo(network, hash);
      }}
    >
      <Cut text={name} />
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
      missing={missingText({ required: [["Name", name]], faults: [nameFault(name)] })}
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

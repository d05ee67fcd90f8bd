import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Project } from "../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../api/session-context.ts";
import { usePages } from "../api/use-pages.ts";
import { formatMoney } from "../format/money.ts";
import { type DataColumn, DataTable } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Pager } from "../ui/pager.tsx";
import { Time } from "../ui/time.tsx";
import { CreateProjectDialog } from "./create-project-dialog.tsx";

/** All projects of the network. */
export function ProjectsPage(): JSX.Element {
  const { admin, network } = useSession();
  const [isCreating, setIsCreating] = useState(false);
  const projects = usePages(async (pageToken, signal) => {
    const reply = await admin.listProjects({ pageToken }, { signal });
    return { items: reply.projects, nextPageToken: reply.nextPageToken };
  }, []);
  const create = (
    <button type="button" class="button button-primary" onClick={() => setIsCreating(true)}>
      Create a project
    </button>
  );
  return (
    <PageFrame
      title="Projects"
      lead={`The accounts with credit on ${network}, the newest first.`}
      actions={create}
    >
      <section class="panel">
        <Loaded call={projects} lines={6}>
          {({ items }) => (
            <DataTable
              caption="Projects"
              columns={COLUMNS}
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
  { title: "Name", cell: ({ name, projectId }) => <a href={`#/projects/${projectId}`}>{name}</a> },
  { title: "Id", cell: ({ projectId }) => <Id id={projectId} what="project id" /> },
  { title: "Balance", isNumber: true, cell: ({ balanceMicroUsd }) => formatMoney(balanceMicroUsd) },
  { title: "Held", isNumber: true, cell: ({ heldMicroUsd }) => formatMoney(heldMicroUsd) },
  { title: "Created", cell: ({ createTime }) => <Time of={createTime} /> },
];

import { randomUUID } from "node:crypto";
import { ProjectSchema } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { formatDollars } from "../../../protocol/price-table.ts";
import { type CommandContext, command } from "../../command-line/command.ts";
import {
  defaulted,
  flag,
  nonEmptyText,
  positiveMicroUsd,
  required,
  type Values,
} from "../../command-line/option.ts";
import {
  type CallOptionValues,
  callOptions,
  explainKeys,
  howToRepeat,
  targetOf,
  underKey,
} from "../../connections/service-command.ts";
import { type Clients, withClients } from "../../connections/with-clients.ts";
import { isOutcomeUnknown } from "../../failure.ts";
import { formatPairs, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";
import { FIRST_SCOPES, formatPlaintext } from "./key.ts";

const OPERATOR = { caller: "operator", isDirect: true } as const;
const CREATE = { ...OPERATOR, isKeyed: true };
const CREATE_OPTIONS = {
  name: required("<name>", "a name for people; it need not be unique", nonEmptyText),
  creditUsd: defaulted("<usd>", "the initial credit, such as 50", positiveMicroUsd, "0"),
  noKey: flag("create no API key"),
};

const create = command({
  summary: "create a project with credit and an API key, and show the key once",
  details: `Migrates the database first.\n${explainKeys(CREATE)}`,
  options: { ...CREATE_OPTIONS, ...callOptions(CREATE) },
  async run(given, context) {
    const values = given as NewProject & CallOptionValues;
    const target = { ...targetOf(CREATE, values), migrates: true };
    const made = await withClients(context, target, (clients) =>
      makeProject(clients, values, values.idempotencyKey ?? randomUUID(), context),
    );
    const { projectId, network, apiKey } = made;
    const rows = [
      ["project", projectId],
      ["network", network],
      ["api key", apiKey === undefined ? "none" : formatPlaintext(apiKey)],
    ] as const;
    context.print(values.json ? JSON.stringify(made) : formatPairs(rows));
  },
});

const list = listCommand({
  ...OPERATOR,
  summary: "list the projects, newest first",
  options: {},
  async read({ admin }, _values, page) {
    const { projects: rows, nextPageToken } = await admin.listProjects(page);
    return { rows, nextPageToken };
  },
  row: ProjectSchema,
  columns: [
    { title: "PROJECT", of: ({ projectId }) => projectId },
    { title: "NETWORK", of: ({ network }) => network },
    { title: "BALANCE", of: ({ balanceMicroUsd }) => formatDollars(balanceMicroUsd), align: "right" },
    { title: "HELD", of: ({ heldMicroUsd }) => formatDollars(heldMicroUsd), align: "right" },
    { title: "CREATED", of: ({ createTime }) => formatTime(createTime) },
    { title: "NAME", of: ({ name }) => name },
  ],
});

export const projectCommands = { create, list };

type NewProject = Values<typeof CREATE_OPTIONS>;

interface MadeProject {
  readonly projectId: string;
  readonly network: string;
  /** The plaintext key; empty if an earlier call created it, absent if none was requested. */
  readonly apiKey?: string;
}

/** Each step runs once per idempotency key, so that a repeat continues where the first call ended. */
async function makeProject(
  { admin }: Clients,
  { name, creditUsd, noKey }: NewProject,
  key: string,
  { note }: CommandContext,
): Promise<MadeProject> {
  let projectId = "";
  try {
    const { project } = await admin.createProject({ name }, underKey(key));
    projectId = project!.projectId;
    const { network } = project!;
    if (creditUsd > 0n) {
      const credit = { projectId, amountMicroUsd: creditUsd, reason: "first credit" };
      await admin.adjustCredit(credit, underKey(`${key}.credit`));
    }
    if (noKey) return { projectId, network };
    const { plaintext } = await admin.createApiKey(
      { projectId, name, scopes: FIRST_SCOPES },
      underKey(`${key}.key`),
    );
    return { projectId, network, apiKey: plaintext };
  } catch (error) {
    if (projectId !== "")
      note(`the project ${projectId} exists, but its setup is incomplete; ${howToRepeat(key)}`);
    else if (isOutcomeUnknown(error)) note(`no reply; ${howToRepeat(key)}`);
    throw error;
  }
}

import { type Client, createClient } from "@connectrpc/connect";
import { Admin } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../../gen/proto/tss/v1/billing_pb.ts";
import { Operations } from "../../../gen/proto/tss/v1/operations_pb.ts";
import { Receipts } from "../../../gen/proto/tss/v1/receipts_pb.ts";
import { Sessions } from "../../../gen/proto/tss/v1/sessions_pb.ts";
import { Sharing } from "../../../gen/proto/tss/v1/sharing_pb.ts";
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { Users } from "../../../gen/proto/tss/v1/users_pb.ts";
import { Webhooks } from "../../../gen/proto/tss/v1/webhooks_pb.ts";
import { createEventCalls, type EventCalls } from "../../client/sdk/calls/event-calls.ts";
import type { ClientConfig } from "../../service/config/client.ts";
import { loadClientConfig } from "../../service/config/config.ts";
import { type CommandContext, UsageError } from "../command-line/command.ts";
import { findQuickStart } from "../find-quick-start.ts";
import type { CallerKind, Connection, Target } from "./connection.ts";

/**
 * Makes calls, and closes the connection afterwards. They go to the service at `--url` or TSS_URL. Without a URL, or
 * with `--direct`, they go to the configured database. While a service has the embedded database open, they go to that
 * service. The command never probes for a service.
 */
export async function withClients<T>(
  context: CommandContext,
  target: Target,
  work: (clients: Clients) => Promise<T>,
): Promise<T> {
  const connection = await connect(context, target);
  const { transport } = connection;
  try {
    return await work({
      admin: createClient(Admin, transport),
      billing: createClient(Billing, transport),
      operations: createClient(Operations, transport),
      receipts: createClient(Receipts, transport),
      sessions: createClient(Sessions, transport),
      sharing: createClient(Sharing, transport),
      signing: createClient(Signing, transport),
      users: createClient(Users, transport),
      events: createEventCalls(transport),
      webhooks: createClient(Webhooks, transport),
    });
  } catch (error) {
    throw connection.explain(error);
  } finally {
    await connection.close();
  }
}

/** Generated clients, of a running service or of the same operations in this process. */
export interface Clients {
  readonly admin: Client<typeof Admin>;
  readonly billing: Client<typeof Billing>;
  readonly operations: Client<typeof Operations>;
  readonly receipts: Client<typeof Receipts>;
  readonly sessions: Client<typeof Sessions>;
  readonly sharing: Client<typeof Sharing>;
  readonly signing: Client<typeof Signing>;
  readonly users: Client<typeof Users>;
  readonly events: EventCalls;
  readonly webhooks: Client<typeof Webhooks>;
}

/** Says whose key the call has, and so which project it acts on. */
function withKey(caller: CallerKind, { adminKey, apiKey }: ClientConfig): string {
  if (caller === "operator")
    return adminKey === undefined ? "as its operator" : "with the configured admin key";
  return `for the project of the key in ${apiKey === undefined ? "dev.json" : "TSS_API_KEY"}`;
}

/** Returns the URL of the service that the calls go to; undefined if they go to the database. */
export async function findService(context: CommandContext, target: Target): Promise<string | undefined> {
  const { caller, direct = false } = target;
  if (direct && target.url !== undefined) throw new UsageError("--direct and --url exclude each other");
  const config = loadClientConfig(context.environment);
  const given = target.url ?? (direct ? undefined : config.url);
  const running = given === undefined && !direct ? await findQuickStart(config) : undefined;
  if (running !== undefined)
    context.note(
      `calling the service at ${running.baseUrl}, which runs on ${config.dataDirectory}, ${withKey(caller, config)}`,
    );
  return given ?? running?.baseUrl;
}

async function connect(context: CommandContext, target: Target): Promise<Connection> {
  const { caller, projectId } = target;
  const url = await findService(context, target);
  if (url === undefined) {
    if (target.direct === undefined)
      throw new UsageError(
        "this command needs a running service: set --url or TSS_URL, or start one here with `tss serve`",
      );
    if (caller === "project" && projectId === undefined)
      throw new UsageError("--project is missing: the database needs it, because there is no key");
    return (await import("./direct.ts")).connectDirect(context, target);
  }
  if (projectId !== undefined)
    throw new UsageError("--project is only for the database: a key determines its project");
  return (await import("./remote.ts")).connectRemote(url, target, loadClientConfig(context.environment));
}

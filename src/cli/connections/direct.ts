import { userInfo } from "node:os";
import { createRouterTransport, type Transport } from "@connectrpc/connect";
import { createValidateInterceptor } from "@connectrpc/validate";
import { Admin } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../../gen/proto/tss/v1/billing_pb.ts";
import { type Caller, SCOPES, setCaller } from "../../service/access/caller.ts";
import { createIdentityProviderCalls } from "../../service/access/identity/identity-service.ts";
import { listsAnyNetwork, type MethodPolicy, methodPolicy } from "../../service/access/method-policy.ts";
import { readProject, requireProject } from "../../service/access/projects.ts";
import { createBillingService } from "../../service/billing/billing-service.ts";
import { type Config, loadConfig } from "../../service/config/config.ts";
import { NETWORK_NAMES } from "../../service/config/network.ts";
import { createAccountCalls, createAdminKeyCalls } from "../../service/operator/calls/account-calls.ts";
import { createPriceCalls } from "../../service/operator/calls/price-calls.ts";
import { createLocalSignals } from "../../service/platform/coordination/local-coordination.ts";
import { createErrorInterceptor } from "../../service/platform/errors/error-interceptor.ts";
import { createErrorMapping } from "../../service/platform/errors/error-mapping.ts";
import { createIdempotencyInterceptor } from "../../service/platform/idempotency/idempotency.ts";
import { systemClock } from "../../service/platform/lifecycle/clock.ts";
import type { Database } from "../../service/platform/store/database.ts";
import { createProviderSessions } from "../../service/users/provider-sessions.ts";
import { type CommandContext, UsageError } from "../command-line/command.ts";
import type { Connection, Target } from "./connection.ts";
import { openConfiguredDatabase } from "./open-configured-database.ts";

/**
 * Calls the service's operations in this process, on the configured database. The audit trail records the user of this
 * machine.
 */
export async function connectDirect(
  { environment, openDatabase = openConfiguredDatabase }: CommandContext,
  target: Target,
): Promise<Connection> {
  const config = loadConfig(environment);
  const database = await openDatabase(config, { migrates: target.migrates ?? false, takesUrl: true });
  try {
    const caller = await callerFor(database, config, target);
    let cause: unknown;
    const transport = serveInProcess(database, config, caller, (found) => {
      cause = found;
    });
    return { transport, explain: (error) => cause ?? error, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function callerFor(
  database: Database,
  config: Config,
  { projectId, network: named }: Target,
): Promise<Caller> {
  const origin = { actor: localActor() };
  const served = config.networks.map(({ name }) => name);
  // An operator may still list what a removed network has left.
  const known = projectId === undefined ? NETWORK_NAMES : served;
  if (named !== undefined && !known.some((name) => name === named))
    throw new UsageError(`--network takes one of ${known.join(", ")}`);
  const networks = named === undefined ? served : [named];
  if (projectId === undefined) {
    const [network = "", ...others] = networks;
    return { kind: "admin", network: others.length > 0 ? "" : network, networks, origin };
  }
  await requireProject(database, networks, projectId);
  const { network } = await readProject(database, projectId);
  return { kind: "project", projectId, apiKeyId: "", network, scopes: SCOPES, origin };
}

function serveInProcess(
  database: Database,
  { networks, allowsPrivateIdentity }: Config,
  caller: Caller,
  onInternal: (cause: unknown) => void,
): Transport {
  const lookup = { forget() {} };
  const { prices } = networks.find(({ name }) => name === caller.network) ?? networks[0];
  const admin = {
    ...createAccountCalls({ database, lookup }),
    ...createAdminKeyCalls({ database, lookup }),
    ...createIdentityProviderCalls({
      database,
      sessions: createProviderSessions(),
      allowsInside: allowsPrivateIdentity,
    }),
    ...createPriceCalls({ database, clock: systemClock }),
  };
  const errors = createErrorMapping(({ level, cause }) => {
    if (level === "error") onInternal(cause);
  });
  return createRouterTransport(
    (router) =>
      router
        .service(Admin, admin)
        .service(
          Billing,
          createBillingService({ database, signals: createLocalSignals(), clock: systemClock, prices }),
        ),
    {
      router: {
        interceptors: [
          createErrorInterceptor(errors),
          createValidateInterceptor(),
          createIdempotencyInterceptor((method) => methodPolicy(method).idempotency === "keyed"),
        ],
        requestGate({ values, method }) {
          const wrong = wrongNetwork(caller.network, methodPolicy(method), networks);
          if (wrong !== undefined) {
            // The reply would only call it an internal error.
            onInternal(new UsageError(wrong));
            throw new UsageError(wrong);
          }
          setCaller(values, caller);
        },
      },
    },
  );
}

/** Returns what is wrong with a call's network, if anything. It is empty if there are several and the command names none. */
function wrongNetwork(
  network: string,
  policy: MethodPolicy,
  networks: Config["networks"],
): string | undefined {
  if (network === "")
    return policy.isOverNetworks ? undefined : "--network is missing: the database has several networks";
  const served = networks.map(({ name }) => name as string);
  if (served.includes(network) || listsAnyNetwork(policy)) return undefined;
  return `--network takes a network of NETWORKS: ${served.join(", ")}`;
}

/** `system:<user>`, the machine's user name, which does not prove a person's identity. */
function localActor(): string {
  return `system:${userName()
    .replace(/[^!-~]/g, "?")
    .slice(0, 64)}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have only a number.
    return String(process.getuid?.() ?? "unknown");
  }
}

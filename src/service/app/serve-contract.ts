import { networkTraits } from "../../protocol/chain/network-traits.ts";
import type { PlainRoute } from "../../transport/http/plain-routes.ts";
import { generateApiKey } from "../access/api-key.ts";
import { openProofNonces } from "../access/dpop/proof-nonces.ts";
import { createSeenProofs } from "../access/dpop/seen-proofs.ts";
import { createProofCheck, type ProofCheck } from "../access/dpop/verify-proof.ts";
import { createTokenExchange, type TokenExchange } from "../access/identity/exchange-token.ts";
import { createKeySetFetch } from "../access/identity/fetch-key-set.ts";
import { createKeySets } from "../access/identity/key-sets.ts";
import { createAdminKeyLookup, createApiKeyLookup } from "../access/stored-keys.ts";
import { createSessionLookup } from "../access/stored-sessions.ts";
import type { Config } from "../config/config.ts";
import type { SweepConfig } from "../config/deposits.ts";
import { createProviderSessions } from "../users/provider-sessions.ts";
import { createSessionDeps, createSessionOfUser, type SessionDeps } from "../users/sessions.ts";
import { consoleRoutes, openApiRoute } from "../web/web-routes.ts";
import { startApiServer } from "./api-server.ts";
import { developmentBanner, readDevelopmentKeys, writeDevelopmentAccess } from "./development-access.ts";
import type { Networks } from "./open-networks.ts";
import { routeServices } from "./route-services.ts";
import type { Service } from "./service.ts";

/** Serves the contract of all networks on one port. */
export async function serveContract(
  service: Service,
  networks: Networks,
  probes: readonly PlainRoute[],
): Promise<{ readonly url: string; readonly banner: readonly string[] }> {
  const { config, database, coordination, log } = service;
  const { signals } = coordination;
  const { dataDirectory } = config;
  const [first] = config.networks;
  const isDevelopment = config.databaseUrl === undefined && networkTraits(first.name).isDevelopment;
  const keys = isDevelopment
    ? await readDevelopmentKeys(database, dataDirectory, config.adminApiKey)
    : undefined;
  const onLookup = (result: "hit" | "miss") => service.observe.onCache("api_key", result);
  const lookup = createApiKeyLookup({ database, signals, log, onLookup });
  const sessionLookup = createSessionLookup({ database, signals, log, onLookup });
  const adminLookup = createAdminKeyLookup({ database, signals, log });
  // The first look-up loads code that later ones need.
  await lookup.find(generateApiKey("localnet"));
  const pages = config.hasConsole ? consoleRoutes() : [];
  if (config.hasConsole && pages.length === 0) log.warn("the console is not built: run npm run build");
  const usersMaxCountOf = usersMaxCounts(config);
  const sessions = createSessionDeps({ database, lookup: sessionLookup, usersMaxCountOf });
  const checkProof = createProofCheck({
    nonces: await openProofNonces(database),
    seenProofs: createSeenProofs({ db: database, coordination }),
    publicUrls: config.publicUrls,
  });
  const services = routeServices({
    servicesOf: (name) => (name === "" ? networks.anyOpen() : networks.opened(name))?.services,
    accounts: { database, lookup },
    sessions,
    exchangeToken: openTokenExchange(service, { sessions, checkProof }),
    identityProviders: {
      database,
      sessions: createProviderSessions(signals),
      allowsInside: config.allowsPrivateIdentity,
    },
    adminKeys: { database, lookup: adminLookup },
    networkWork: { database, signals, sweepsOf: (name) => sweepsOf(config, name) },
  });
  const { url } = await startApiServer(service, {
    services,
    lookup,
    sessionLookup,
    checkProof,
    adminLookup,
    adminApiKey: keys?.adminApiKey ?? config.adminApiKey,
    routes: [...probes, openApiRoute(), ...pages],
  });
  const consoleLines = pages.length > 0 ? [`console            ${url}/console`] : [];
  if (keys === undefined) return { url, banner: consoleLines };
  const fullnodeUrl = networks.opened(first.name)?.network.chain.publicFullnodeUrl ?? "";
  writeDevelopmentAccess(dataDirectory, { baseUrl: url, fullnodeUrl, keys });
  return { url, banner: developmentBanner(dataDirectory, fullnodeUrl, keys, consoleLines) };
}

/** Returns the maximum number of users of a project, by its network. */
function usersMaxCounts({ networks }: Config): (network: string) => number {
  const counts = new Map(networks.map(({ name, usersMaxCount }) => [name as string, usersMaxCount]));
  return (network) => counts.get(network) ?? 0;
}

/** Opens the exchange of ID tokens, with the keys of the providers. */
function openTokenExchange(
  { config, database, coordination, log }: Service,
  { sessions, checkProof }: { readonly sessions: SessionDeps; readonly checkProof: ProofCheck },
): TokenExchange {
  return createTokenExchange({
    db: database,
    networks: config.networks.map(({ name }) => name),
    keySets: createKeySets({
      fetch: createKeySetFetch({ allowsInside: config.allowsPrivateIdentity }),
      log,
    }),
    checkProof,
    createSession: (session) => createSessionOfUser(sessions, session),
    coordination,
  });
}

/** Returns how a configured network is swept. The gate admits only calls of configured networks. */
function sweepsOf({ networks }: Config, name: string): SweepConfig {
  const network = networks.find((one) => one.name === name);
  if (network === undefined) throw new Error(`the gate let ${name} through`);
  return network.sweeps;
}

import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Account } from "../../../gen/client/tss/v1/account_pb.ts";
import { Admin } from "../../../gen/client/tss/v1/admin_pb.ts";
import { Billing } from "../../../gen/client/tss/v1/billing_pb.ts";
import { Onboarding } from "../../../gen/client/tss/v1/onboarding_pb.ts";
import { Operations } from "../../../gen/client/tss/v1/operations_pb.ts";
import { Receipts } from "../../../gen/client/tss/v1/receipts_pb.ts";
import { Sessions } from "../../../gen/client/tss/v1/sessions_pb.ts";
import { Sharing } from "../../../gen/client/tss/v1/sharing_pb.ts";
import { Signing } from "../../../gen/client/tss/v1/signing_pb.ts";
import { Users } from "../../../gen/client/tss/v1/users_pb.ts";
import { Webhooks } from "../../../gen/client/tss/v1/webhooks_pb.ts";

/** A page's view of the signed-in key on one network. */
export interface Session extends Clients {
  readonly role: "operator" | "project";
  /** localnet, testnet or mainnet: the network of the key's project, or the one that an operator chose. */
  readonly network: string;
  /** The networks that an operator can choose, in the service's order; for a project, its own. */
  readonly networks: readonly string[];
  /** The name of the project, for people; empty for an operator. */
  readonly projectName: string;
  /** The scopes of the project's key; undefined for an operator, whose key may do everything that the pages do. */
  readonly scopes: readonly string[] | undefined;
  /** The id of the project's key; undefined for an operator. */
  readonly apiKeyId: string | undefined;
  /** Clients that name no network, for calls about all networks. */
  readonly everyNetwork: Pick<Clients, "admin" | "operations">;
}

/**
 * A signed-in key. The key exists only in the closure of an interceptor, never in storage, a URL or an element of the
 * page, and is dropped with the session.
 */
export interface KeySession extends Pick<Session, "networks"> {
  /** Returns the session on one of the networks. */
  on(network: string): Session;
}

/** Opens a session after the service has accepted the key. Rejects with the service's refusal. */
export async function openKeySession(key: string, signal: AbortSignal): Promise<KeySession> {
  const everyNetwork = createClients(key, undefined);
  if (roleOfKey(key) === "project") {
    const { projectName, network, scopes, apiKeyId } = await everyNetwork.account.getAccount({}, { signal });
    const networks = [network];
    const session: Session = {
      role: "project",
      projectName,
      scopes,
      apiKeyId,
      network,
      networks,
      everyNetwork,
      ...everyNetwork,
    };
    return { networks, on: () => session };
  }
  const { networks } = await everyNetwork.operations.getReadiness({}, { signal });
  return {
    networks,
    on: (network) => ({
      role: "operator",
      projectName: "",
      scopes: undefined,
      apiKeyId: undefined,
      network,
      networks,
      everyNetwork,
      ...(networks.length > 1 ? createClients(key, network) : everyNetwork),
    }),
  };
}

interface Clients {
  readonly account: Client<typeof Account>;
  readonly operations: Client<typeof Operations>;
  readonly admin: Client<typeof Admin>;
  readonly billing: Client<typeof Billing>;
  readonly onboarding: Client<typeof Onboarding>;
  readonly receipts: Client<typeof Receipts>;
  readonly sessions: Client<typeof Sessions>;
  readonly sharing: Client<typeof Sharing>;
  readonly signing: Client<typeof Signing>;
  readonly users: Client<typeof Users>;
  readonly webhooks: Client<typeof Webhooks>;
}

function createClients(key: string, network: string | undefined): Clients {
  const authorise: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${key}`);
    if (network !== undefined) request.header.set("x-network", network);
    return next(request);
  };
  const transport = createConnectTransport({
    baseUrl: location.origin,
    useBinaryFormat: true,
    defaultTimeoutMs: CALL_TIMEOUT_MS,
    interceptors: [authorise],
  });
  return {
    account: createClient(Account, transport),
    operations: createClient(Operations, transport),
    admin: createClient(Admin, transport),
    billing: createClient(Billing, transport),
    onboarding: createClient(Onboarding, transport),
    receipts: createClient(Receipts, transport),
    sessions: createClient(Sessions, transport),
    sharing: createClient(Sharing, transport),
    signing: createClient(Signing, transport),
    users: createClient(Users, transport),
    webhooks: createClient(Webhooks, transport),
  };
}

/** The default deadline. Streams pass their own. */
const CALL_TIMEOUT_MS = 30_000;

/** The signed-in session and the way out of it. */
export const SessionContext = createContext<SessionValue | undefined>(undefined);

interface SessionValue {
  readonly session: Session;
  /** Discards the key, and shows the reason. */
  signOut(message: string): void;
}

/** Returns the session of the page. */
export function useSession(): Session {
  return useSessionValue().session;
}

/** Returns the function that discards the key. */
export function useSignOut(): SessionValue["signOut"] {
  return useSessionValue().signOut;
}

function useSessionValue(): SessionValue {
  const value = useContext(SessionContext);
  if (value === undefined) throw new Error("a page is shown without a session");
  return value;
}

/** Returns the role of a key by its form: a project's key names its network; every other key is an operator's. */
export function roleOfKey(key: string): "operator" | "project" {
  return /^tss_(?:local|test|live)_/.test(key) ? "project" : "operator";
}

/** Returns a suffix such as ` on mainnet` for texts that must name their network; empty if the service has only one. */
export function useOnNetwork(): string {
  const { network, networks } = useSession();
  return networks.length > 1 ? ` on ${network}` : "";
}

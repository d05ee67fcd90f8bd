import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Admin,
  IdentityProviderSchema,
  type IdentityProvider as ProviderMessage,
  type IdentityProviderSettings as SettingsMessage,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import type { Identity } from "../../../../gen/proto/tss/v1/identity_pb.ts";
import { Session_Scope } from "../../../../gen/proto/tss/v1/sessions_pb.ts";
import { requestIdKey } from "../../../transport/calls/request-id.ts";
import { idempotencyOf } from "../../platform/idempotency/idempotency.ts";
import type { Database } from "../../platform/store/database.ts";
import { decodeBudget, encodeBudget } from "../allowances/allowance-message.ts";
import { callerOf, SESSION_SCOPES } from "../caller.ts";
import { clientAddressKey } from "../client-address.ts";
import type { TokenExchange } from "./exchange-token.ts";
import {
  createIdentityProvider,
  deleteIdentityProvider,
  type IdentityProvider,
  type IdentityProviderSettings,
  listIdentityProviders,
  type ProviderSessions,
} from "./identity-providers.ts";
import type { IdTokenAlgorithm } from "./verify-id-token.ts";

/** Implements `tss.v1.Identity`. */
export function createIdentityService(exchange: TokenExchange): ServiceImpl<typeof Identity> {
  return {
    async exchangeToken({ projectId, idToken }, context) {
      const { values, requestHeader, responseHeader, requestMethod, url } = context;
      const session = await exchange({
        projectId,
        idToken,
        call: {
          origin: { requestId: values.get(requestIdKey), address: values.get(clientAddressKey) },
          idempotency: idempotencyOf(context),
          page: requestHeader.get("origin") ?? undefined,
          responseHeader,
          proof: requestHeader.get("dpop") ?? undefined,
          method: requestMethod,
          url,
        },
      });
      return {
        sessionToken: session.token ?? "",
        sessionId: session.id,
        userReference: session.userReference,
        expireTime: timestampFromDate(session.expiresAt),
      };
    },
  };
}

/** Implements {@link IdentityProviderCalls}. */
export function createIdentityProviderCalls(deps: IdentityProviderCallsDeps): IdentityProviderCalls {
  const { database, allowsInside, sessions } = deps;
  return {
    async createIdentityProvider({ projectId, settings }, context) {
      const caller = callerOf(context, "admin");
      const decoded = decodeSettings(settings!);
      const options = { allowsInside };
      const made = await createIdentityProvider(
        database,
        caller,
        idempotencyOf(context),
        projectId,
        decoded,
        options,
      );
      return { identityProvider: encodeProvider(made) };
    },
    async listIdentityProviders({ projectId }, context) {
      const { networks } = callerOf(context, "admin");
      const providers = await listIdentityProviders(database, networks, projectId);
      return { identityProviders: providers.map(encodeProvider) };
    },
    async deleteIdentityProvider({ identityProviderId }, context) {
      const caller = callerOf(context, "admin");
      const removed = await deleteIdentityProvider({ database, sessions }, caller, identityProviderId);
      const { provider, endedSessionCount } = removed;
      return { identityProvider: encodeProvider(provider), endedSessionCount };
    },
  };
}

/** The calls of `tss.v1.Admin` about identity providers. */
export type IdentityProviderCalls = Pick<
  ServiceImpl<typeof Admin>,
  "createIdentityProvider" | "listIdentityProviders" | "deleteIdentityProvider"
>;

/** Dependencies of {@link createIdentityProviderCalls}. */
export interface IdentityProviderCallsDeps {
  readonly database: Database;
  readonly sessions: ProviderSessions;
  /** True if key sets may be at http and at addresses that are not public. */
  readonly allowsInside: boolean;
}

const DEFAULT_ALGORITHMS: readonly IdTokenAlgorithm[] = ["RS256", "PS256", "ES256", "EdDSA"];
const DEFAULT_TOKEN_MAX_AGE_SECONDS = 600;
const DEFAULT_SESSION_SECONDS = 3_600;

/** Decodes validated settings, with the defaults of absent fields. */
function decodeSettings(settings: SettingsMessage): IdentityProviderSettings {
  const { issuer, audiences, allowsUnbound, origins, algorithms, budget } = settings;
  return {
    issuer,
    audiences,
    allowsUnbound,
    origins,
    referenceClaim: settings.referenceClaim || "sub",
    keySetUrl: settings.keySetUrl || undefined,
    keySet: settings.keySetJson || undefined,
    algorithms: algorithms.length === 0 ? DEFAULT_ALGORITHMS : (algorithms as IdTokenAlgorithm[]),
    tokenMaxAgeSeconds: settings.tokenMaxAgeSeconds || DEFAULT_TOKEN_MAX_AGE_SECONDS,
    scopes: SESSION_SCOPES.filter((scope) => settings.scopes.includes(Session_Scope[scope])),
    sessionSeconds: settings.sessionSeconds || DEFAULT_SESSION_SECONDS,
    budget: budget && decodeBudget(budget, "settings.budget"),
  };
}

function encodeProvider(provider: IdentityProvider): ProviderMessage {
  const { id, projectId, createdAt, keySet, keySetUrl, budget, ...settings } = provider;
  return create(IdentityProviderSchema, {
    identityProviderId: id,
    projectId,
    createTime: timestampFromDate(createdAt),
    settings: {
      issuer: settings.issuer,
      audiences: [...settings.audiences],
      referenceClaim: settings.referenceClaim,
      keySetUrl: keySetUrl ?? "",
      keySetJson: keySet ?? "",
      algorithms: [...settings.algorithms],
      tokenMaxAgeSeconds: settings.tokenMaxAgeSeconds,
      allowsUnbound: settings.allowsUnbound,
      scopes: settings.scopes.map((scope) => Session_Scope[scope]),
      origins: [...settings.origins],
      sessionSeconds: settings.sessionSeconds,
      ...(budget && { budget: encodeBudget(budget) }),
    },
  });
}

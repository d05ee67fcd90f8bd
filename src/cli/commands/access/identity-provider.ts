import {
  CreateIdentityProviderResponseSchema,
  DeleteIdentityProviderResponseSchema,
  type IdentityProvider,
  IdentityProviderSchema,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { Session_Scope, Session_ScopeSchema } from "../../../../gen/proto/tss/v1/sessions_pb.ts";
import { ID_TOKEN_ALGORITHMS } from "../../../service/access/identity/verify-id-token.ts";
import { formatBudget, SESSION_LIMIT_OPTIONS } from "../../command-line/limit-options.ts";
import {
  choicesOf,
  defaulted,
  duration,
  flag,
  httpUrl,
  nonEmptyText,
  operand,
  optional,
  required,
  textFile,
  texts,
  uuid,
} from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatEnum, formatPairs, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";

const OPERATOR = { caller: "operator", isDirect: true } as const;
const SCOPES = ["onboard", "sign", "read", "release", "propose"] as const;
/** A session that may both sign and release needs nobody else, so the others are only given on request. */
const DEFAULT_SCOPES: readonly (typeof SCOPES)[number][] = ["onboard", "sign", "read"];

const add = serviceCommand({
  ...OPERATOR,
  isKeyed: true,
  summary:
    "trust an issuer of ID tokens for a project: its tokens then create sessions of the project's users",
  options: {
    project: required("<id>", "the project's id", uuid),
    issuer: required("<url>", "the claim `iss` of its tokens, exactly", nonEmptyText),
    audiences: required("<list>", "the accepted values of `aud`, such as the app's client id", texts),
    keys: optional("<url>", "where its keys are: the `jwks_uri` of its discovery document", httpUrl),
    keysFile: optional("<file>", "a file with its keys, a JSON Web Key Set, instead of --keys", textFile),
    claim: defaulted("<name>", "the claim with the user's reference", nonEmptyText, "sub"),
    algorithms: optional(
      "<list>",
      "the accepted algorithms; default RS256,PS256,ES256,EdDSA",
      choicesOf(ID_TOKEN_ALGORITHMS),
    ),
    maxAge: optional("<duration>", "the maximum age of a token; default 10m", duration(1)),
    scopes: defaulted(
      "<list>",
      `its sessions' permissions, of ${SCOPES.join(",")}`,
      choicesOf(SCOPES),
      DEFAULT_SCOPES.join(","),
    ),
    origins: optional("<list>", "the web origins whose pages may use them; default none", texts),
    lifetime: optional("<duration>", "how long a session lasts; default 1h", duration(1)),
    budget: {
      ...SESSION_LIMIT_OPTIONS.budget,
      description: "what each user may spend per window, such as 5.00/1d; default any",
    },
    allowUnbound: flag("create sessions for callers that prove no key of their device"),
  },
  call({ admin }, values, once) {
    const { project: projectId, issuer, audiences, keys, keysFile, claim, algorithms, maxAge } = values;
    return admin.createIdentityProvider(
      {
        projectId,
        settings: {
          issuer,
          audiences,
          referenceClaim: claim,
          keySetUrl: keys ?? "",
          keySetJson: keysFile ?? "",
          algorithms: algorithms ?? [],
          tokenMaxAgeSeconds: maxAge ?? 0,
          scopes: values.scopes.map((scope) => Session_Scope[scope]),
          origins: values.origins ?? [],
          sessionSeconds: values.lifetime ?? 0,
          allowsUnbound: values.allowUnbound,
          ...(values.budget && { budget: values.budget }),
        },
      },
      once,
    );
  },
  reply: CreateIdentityProviderResponseSchema,
  show: ({ identityProvider }) => formatPairs(describe(identityProvider!)),
});

const list = listCommand({
  ...OPERATOR,
  summary: "list a project's identity providers, newest first",
  options: { project: required("<id>", "the project's id", uuid) },
  async read({ admin }, { project: projectId }) {
    const { identityProviders: rows } = await admin.listIdentityProviders({ projectId });
    return { rows, nextPageToken: "" };
  },
  row: IdentityProviderSchema,
  columns: [
    { title: "PROVIDER", of: ({ identityProviderId }) => identityProviderId },
    { title: "ISSUER", of: ({ settings }) => settings?.issuer ?? "" },
    { title: "AUDIENCES", of: ({ settings }) => settings?.audiences.join(",") ?? "" },
    { title: "KEYS", of: ({ settings }) => settings?.keySetUrl || "pinned" },
    { title: "CREATED", of: ({ createTime }) => formatTime(createTime) },
  ],
});

const remove = serviceCommand({
  ...OPERATOR,
  summary: "remove an identity provider and end the sessions that it created",
  options: {
    provider: operand("<provider-id>", "the provider's id, as `tss identity-provider list` shows it", uuid),
  },
  call: ({ admin }, { provider: identityProviderId }) => admin.deleteIdentityProvider({ identityProviderId }),
  reply: DeleteIdentityProviderResponseSchema,
  show: ({ identityProvider, endedSessionCount }) =>
    formatPairs([...describe(identityProvider!), ["sessions", `${endedSessionCount} ended`]]),
});

export const identityProviderCommands = { add, list, remove };

function describe({
  identityProviderId,
  projectId,
  settings,
}: IdentityProvider): [string, string | undefined][] {
  return [
    ["identity provider", identityProviderId],
    ["project", projectId],
    ["issuer", settings?.issuer ?? ""],
    ["audiences", settings?.audiences.join(",") ?? ""],
    ["claim", settings?.referenceClaim ?? ""],
    ["keys", settings?.keySetUrl || "pinned"],
    ["algorithms", settings?.algorithms.join(",") ?? ""],
    ["scopes", settings?.scopes.map((scope) => formatEnum(Session_ScopeSchema, scope)).join(",") ?? ""],
    ["origins", settings?.origins.join(",") || "none"],
    ["budget", settings?.budget && formatBudget(settings.budget)],
    ["device key", settings?.allowsUnbound ? "optional" : "required"],
  ];
}

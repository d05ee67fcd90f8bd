/** The contract as Markdown: a page for each service with its messages and enums, and one for the shared types. */
import {
  createFileRegistry,
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  ScalarType,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { commentOf, packageCommentOf } from "../openapi/comments.ts";
import { httpBindings } from "../openapi/http-bindings.ts";
import { ruleKeywords, rulesOf } from "../openapi/rule-keywords.ts";
import { declaredOptions } from "../service-api/declared-options.ts";

type Type = DescMessage | DescEnum;

const PACKAGE = "tss.v1";
/** The page of the types that no single service owns. */
const SHARED = "types";
/** A page's file and its text. */
export type Page = readonly [file: string, text: string];

/**
 * Returns the pages of the contract, of which `grpc.md` lists the services.
 * @param descriptorSet a google.protobuf.FileDescriptorSet of the contract, with imports and source info
 */
export function grpcReference(descriptorSet: Uint8Array): Page[] {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet));
  const files = [...registry.files].filter((file) => file.proto.package === PACKAGE);
  const services = files.flatMap((file) => file.services).sort((a, b) => (a.name < b.name ? -1 : 1));
  const types = files.flatMap((file) => [...file.messages, ...file.enums]).flatMap(withNested);
  const pageOf = (type: Type): string => {
    const [service, ...others] = type.file.services;
    return service === undefined || others.length > 0 ? SHARED : pageName(service);
  };
  const link = (type: Type): string =>
    type.file.proto.package === PACKAGE
      ? `[\`${nameOf(type)}\`](./${pageOf(type)}.md#${anchorOf(type)})`
      : `\`${type.typeName}\``;
  const typesOn = (page: string) =>
    types.filter((type) => pageOf(type) === page).map((type) => describeType(type, link));
  const enumOf = (typeName: string) => registry.getEnum(typeName);
  return [
    ["grpc.md", overview(services, files.map(packageCommentOf).find((comment) => comment !== "") ?? "")],
    ...services.map(
      (service): Page => [
        `grpc/${pageName(service)}.md`,
        [
          `# ${service.typeName}`,
          commentOf(service),
          "## Calls",
          ...service.methods.map((method) => describeMethod(method, link, enumOf)),
          "## Types",
          ...typesOn(pageName(service)),
        ].join("\n\n"),
      ],
    ),
    [
      `grpc/${SHARED}.md`,
      ["# Shared types", "Types that several services use.", "## Types", ...typesOn(SHARED)].join("\n\n"),
    ],
  ];
}

function overview(services: readonly DescService[], comment: string): string {
  const rows = services.flatMap((service) =>
    service.methods.map(
      (method) =>
        `| [\`${service.name}.${method.name}\`](./grpc/${pageName(service)}.md#${method.name.toLowerCase()}) | ${cell(firstSentence(commentOf(method)))} |`,
    ),
  );
  return [
    "# gRPC reference",
    comment,
    "The package is `tss.v1`. gRPC, gRPC-web and Connect serve the same calls; a call's path is `/tss.v1.Signing/GetSign`. The [REST reference](./rest.md) shows them over HTTP and JSON, and the [errors](../errors.md) apply to all protocols.",
    ["| Call | Purpose |", "|---|---|", ...rows].join("\n"),
    `Messages that several services use are among the [shared types](./grpc/${SHARED}.md).`,
  ].join("\n\n");
}

function describeMethod(
  method: DescMethod,
  link: (type: Type) => string,
  enumOf: (typeName: string) => DescEnum | undefined,
): string {
  const { access, costClass, idempotency, audit } = declaredOptions(method, enumOf);
  const input = method.methodKind.startsWith("client") || method.methodKind === "bidi_streaming";
  const output = method.methodKind.startsWith("server") || method.methodKind === "bidi_streaming";
  const rest = httpBindings(method).map(({ verb, template }) => `\`${verb.toUpperCase()} ${template}\``);
  return [
    `### ${method.name}`,
    commentOf(method),
    [
      `- Request: ${input ? "a stream of " : ""}${link(method.input)}`,
      `- Reply: ${output ? "a stream of " : ""}${link(method.output)}`,
      ...(rest.length === 0 ? [] : [`- REST: ${rest.join(", ")}`]),
      `- Access: ${access.meaning}`,
      `- Cost: ${costClass.meaning}`,
      `- Repeats: ${idempotency.meaning}`,
      `- Audit: ${audit.meaning}`,
    ].join("\n"),
  ].join("\n\n");
}

function describeType(type: Type, link: (type: Type) => string): string {
  const rows =
    type.kind === "enum"
      ? type.values.map((value) => `| \`${value.name}\` | ${value.number} | ${cell(commentOf(value))} |`)
      : type.fields.map(
          (field) =>
            `| \`${field.name}\` | ${typeOf(field, link)} | ${field.number} | ${cell(meaningOf(field))} |`,
        );
  const head =
    type.kind === "enum"
      ? ["| Value | Number | Meaning |", "|---|---|---|"]
      : ["| Field | Type | Number | Meaning |", "|---|---|---|---|"];
  const table = rows.length === 0 ? "No fields." : [...head, ...rows].join("\n");
  return [`### ${nameOf(type)}`, commentOf(type), table].filter((part) => part !== "").join("\n\n");
}

function meaningOf(field: DescField): string {
  const rules = rulesOf(field);
  const limits = rules === undefined ? [] : ruleKeywords(rules).notes;
  const oneof = field.oneof === undefined ? [] : [`One of \`${field.oneof.name}\`.`];
  return [commentOf(field), ...oneof, ...limits].filter((part) => part !== "").join(" ");
}

function typeOf(field: DescField, link: (type: Type) => string): string {
  const single = field.message ?? field.enum;
  const scalar = field.scalar === undefined ? "" : `\`${ScalarType[field.scalar].toLowerCase()}\``;
  const one = single === undefined ? scalar : link(single);
  if (field.fieldKind === "list") return `repeated ${one}`;
  if (field.fieldKind === "map") return `map of \`${ScalarType[field.mapKey].toLowerCase()}\` to ${one}`;
  return field.proto.proto3Optional ? `optional ${one}` : one;
}

function withNested(type: Type): Type[] {
  return type.kind === "enum"
    ? [type]
    : [type, ...[...type.nestedEnums, ...type.nestedMessages].flatMap(withNested)];
}

/** The name below the package: `SignRequest.Status`. */
function nameOf(type: Type): string {
  return type.typeName.slice(type.file.proto.package.length + 1);
}

const anchorOf = (type: Type): string => nameOf(type).toLowerCase().replaceAll(".", "");
const pageName = (service: DescService): string => service.name.toLowerCase();
const firstSentence = (text: string): string => text.split(/\.\s/)[0]!.replace(/\.?$/, ".");
const cell = (text: string): string => text.replace(/\s+/g, " ").replaceAll("|", "\\|");

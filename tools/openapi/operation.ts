import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { commentOf } from "./comments.ts";
import type { ComponentSchemas } from "./component-schemas.ts";
import type { HttpBinding } from "./http-bindings.ts";
import { octetParameters } from "./octets.ts";
import type { DocumentedPath } from "./path-parameters.ts";
import { queryParameters } from "./query-parameters.ts";
import { requestBody } from "./request-body.ts";
import { streamParameters } from "./streams.ts";
import { successReplies } from "./success-replies.ts";

/** The additions of an application to an operation, which do not follow from descriptors. */
export interface OperationPolicy {
  /** Paragraphs for the description. */
  readonly notes: readonly string[];
  readonly security: readonly JsonValue[];
  readonly parameters: readonly JsonObject[];
  /** Replies of failed calls, by status or `default`. */
  readonly errors: Readonly<Record<string, NamedReply>>;
  /** Members whose names begin with `x-`. */
  readonly extensions: JsonObject;
}

/** A reply that several operations may share. Replies with the same name are equal. */
export interface NamedReply {
  /** The name under `components`. */
  readonly name: string;
  readonly reply: JsonObject;
}

/** Returns the operation object of one binding of a method. */
export function operation(
  binding: HttpBinding,
  { given, parameters }: DocumentedPath,
  operationId: string,
  schemas: ComponentSchemas,
  policy: OperationPolicy,
): JsonObject {
  const { method } = binding;
  const comment = commentOf(method);
  const description = [comment, ...policy.notes].filter((text) => text !== "").join("\n\n");
  const all = [
    ...parameters,
    ...queryParameters(binding, given, schemas),
    ...octetParameters(binding),
    ...streamParameters(binding),
    ...policy.parameters,
  ];
  const errors = Object.fromEntries(
    Object.entries(policy.errors).map(([status, { name }]) => [
      status,
      { $ref: `#/components/responses/${name}` },
    ]),
  );
  const body = requestBody(binding, given, operationId, schemas);
  return {
    operationId,
    summary: summaryOf(method, comment),
    ...(description === "" ? {} : { description }),
    tags: [method.parent.name],
    security: [...policy.security],
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: { ...successReplies(binding, schemas), ...errors },
    ...(method.deprecated ? { deprecated: true } : {}),
    ...policy.extensions,
  };
}

/** Returns the first sentence of the comment, in one line. */
function summaryOf(method: DescMethod, comment: string): string {
  const [first = ""] = comment.split(/\n\n|(?<=[.!?])\s/);
  return first.replaceAll("\n", " ").replace(/\.$/, "") || method.name;
}

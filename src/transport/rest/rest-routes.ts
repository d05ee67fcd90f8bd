import {
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  type Registry,
} from "@bufbuild/protobuf";
import { createServiceImplSpec, type MethodImplSpec } from "@connectrpc/connect";
import { http } from "../../../gen/proto/google/api/annotations_pb.ts";
import type { HttpRule } from "../../../gen/proto/google/api/http_pb.ts";
import { HttpBodySchema } from "../../../gen/proto/google/api/httpbody_pb.ts";
import type { ServiceRegistration } from "../calls/service-registration.ts";
import type { OwnSpec } from "../own-services.ts";
import { type FieldPath, leafOf, resolveFieldPath } from "./field-path.ts";
import { isParameterField } from "./parameters.ts";
import { createPathRouter, type PathRouter, parsePathTemplate } from "./path-router.ts";

/** One HTTP binding of a method. */
export interface RestRoute {
  readonly spec: OwnSpec;
  readonly request: BodyRule;
  /** Whether the request's body is the octets of a google.api.HttpBody. */
  readonly takesOctets: boolean;
  readonly reply: Exclude<BodyRule, { kind: "none" }>;
  /** Whether the reply's body is the octets of a google.api.HttpBody, or of a stream of them. */
  readonly givesOctets: boolean;
  /** The template's variables, by their text in it. */
  readonly variables: ReadonlyMap<string, FieldPath>;
  /** With the types that a `google.protobuf.Any` may contain. */
  readonly json: { readonly registry?: Registry };
}

/** The part of a message that is the HTTP body. */
export type BodyRule =
  | { readonly kind: "none" }
  | { readonly kind: "message" }
  | { readonly kind: "field"; readonly field: DescField };

/**
 * Builds the routes of all methods with a google.api.http annotation, including additional bindings.
 * @param registry the types that a `google.protobuf.Any` may contain. Default: none
 * @throws Error for a rule that does not fit its method
 */
export function createRestRouter(
  services: readonly ServiceRegistration[],
  registry?: Registry,
): PathRouter<RestRoute> {
  const router = createPathRouter<RestRoute>();
  for (const { service, implementation } of services) {
    const { methods } = createServiceImplSpec(service, implementation);
    for (const method of service.methods) {
      const spec = methods[method.localName];
      if (spec === undefined || !hasOption(method, http)) continue;
      const rule = getOption(method, http);
      for (const one of [rule, ...rule.additionalBindings]) {
        addRule(router, spec, one, { isAdditional: one !== rule, registry });
      }
    }
  }
  return router;
}

function addRule(
  router: PathRouter<RestRoute>,
  spec: MethodImplSpec,
  rule: HttpRule,
  { isAdditional, registry }: { isAdditional: boolean; registry: Registry | undefined },
): void {
  const { method } = spec;
  const { pattern } = rule;
  if (pattern.case === undefined) throw misfit(method, "it has no pattern");
  if (isAdditional && rule.additionalBindings.length > 0) throw misfit(method, "additional bindings nest");
  if (spec.kind === "client_streaming" || spec.kind === "bidi_streaming") {
    throw misfit(method, "REST does not support client streams");
  }
  const [httpMethod, template] =
    pattern.case === "custom"
      ? [pattern.value.kind, pattern.value.path]
      : [pattern.case.toUpperCase(), pattern.value];
  const request = bodyRule(method, method.input, rule.body);
  const reply = bodyRule(method, method.output, rule.responseBody || "*");
  try {
    router.add(httpMethod, template, {
      spec,
      request,
      takesOctets: isHttpBody(request, method.input),
      reply: reply.kind === "none" ? { kind: "message" } : reply,
      givesOctets: isHttpBody(reply, method.output),
      variables: variablesOf(method, template),
      json: registry === undefined ? {} : { registry },
    });
  } catch (cause) {
    throw misfit(method, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/**
 * Returns the variables with their fields. A variable cannot be a repeated field, a map or a message
 * (google/api/http.proto).
 */
function variablesOf(method: DescMethod, template: string): Map<string, FieldPath> {
  const { variables } = parsePathTemplate(template);
  return new Map(
    variables.map(({ fieldPath }) => {
      const path = resolveFieldPath(method.input, fieldPath);
      if (path === undefined) throw new Error(`there is no field ${fieldPath}`);
      const leaf = leafOf(path);
      if (leaf.fieldKind === "list" || !isParameterField(leaf)) {
        throw new Error(`the field ${fieldPath} cannot be a variable of a path`);
      }
      return [fieldPath, path];
    }),
  );
}

function bodyRule(method: DescMethod, message: DescMessage, body: string): BodyRule {
  if (body === "") return { kind: "none" };
  if (body === "*") return { kind: "message" };
  const path = resolveFieldPath(message, body);
  if (path === undefined || path.length > 1) throw misfit(method, `there is no top-level field ${body}`);
  return { kind: "field", field: path[0] };
}

function isHttpBody(body: BodyRule, message: DescMessage): boolean {
  switch (body.kind) {
    case "none":
      return false;
    case "message":
      return message.typeName === HttpBodySchema.typeName;
    case "field":
      return body.field.fieldKind === "message" && body.field.message.typeName === HttpBodySchema.typeName;
  }
}

function misfit(method: DescMethod, why: string, cause?: unknown): Error {
  return new Error(
    `the google.api.http rule of ${method.parent.typeName}/${method.name} does not fit: ${why}`,
    { cause },
  );
}

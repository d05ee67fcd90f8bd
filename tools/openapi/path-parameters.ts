import type { JsonObject } from "@bufbuild/protobuf";
import { type FieldPath, leafOf, protoPath, resolveFieldPath } from "../../src/transport/rest/field-path.ts";
import { type PathTemplate, parsePathTemplate, type Segment } from "../../src/transport/rest/path-router.ts";
import { fieldSchema, type TypeSchemas } from "./field-schema.ts";
import type { GivenPaths } from "./given-paths.ts";
import { type HttpBinding, misfit } from "./http-bindings.ts";

/** A path template in OpenAPI's form. */
export interface DocumentedPath {
  /** Such as `/v1/dwallets/{dwallet_id}/accept`. */
  readonly path: string;
  /** The path without its parameters' names, which is equal for all paths that OpenAPI cannot distinguish. */
  readonly shape: string;
  readonly parameters: readonly (JsonObject & { readonly name: string })[];
  readonly given: GivenPaths;
}

/**
 * Converts a template to a path with parameters. A parameter of OpenAPI is one segment, so a variable with several
 * segments has one parameter for each of its wildcards, and its literals are part of the path.
 * @param namesOf the names in an earlier path of the same shape, which this one reuses
 */
export function documentedPath(
  binding: HttpBinding,
  types: TypeSchemas,
  namesOf: (shape: string) => readonly string[] | undefined,
): DocumentedPath {
  const template = parsePathTemplate(binding.template);
  const { segments, variables, verb } = template;
  const stem = segments.map((segment) => (segment.kind === "literal" ? `/${segment.text}` : "/{}")).join("");
  const shape = `${stem || "/"}${verb === "" ? "" : `:${verb}`}`;
  const places = [...segments.keys()].filter((place) => segments[place]?.kind !== "literal");
  const own = places.map((place) => parameterAt(place, template, binding, types));
  const names = namesOf(shape) ?? own.map(({ name }) => name);
  const rest = [...names];
  return {
    path: shape.replaceAll("{}", () => `{${rest.shift() ?? ""}}`),
    shape,
    parameters: own.map((parameter, index) => ({ ...parameter, name: names[index] ?? parameter.name })),
    given: new Set(variables.map(({ fieldPath }) => protoPath(fieldOf(binding, fieldPath)))),
  };
}

function parameterAt(
  place: number,
  { segments, variables }: PathTemplate,
  binding: HttpBinding,
  types: TypeSchemas,
): JsonObject & { name: string } {
  const isMany = segments[place]?.kind === "many";
  const notes = isMany ? ["Any number of segments, with the slashes between them."] : [];
  const variable = variables.find(({ start, end }) => start <= place && place < end);
  if (variable === undefined) return parameter(`segment_${place + 1}`, { type: "string" }, notes);

  const { description, ...schema } = fieldSchema(
    leafOf(fieldOf(binding, variable.fieldPath)),
    "input",
    types,
  );
  const comments = typeof description === "string" ? [description] : [];
  const covered = segments.slice(variable.start, variable.end);
  if (covered.length === 1) {
    return parameter(variable.fieldPath, isMany ? { type: "string" } : schema, [...comments, ...notes]);
  }
  const wildcards = segments.slice(variable.start, place + 1).filter(({ kind }) => kind !== "literal").length;
  const text = covered.map(textOf).join("/");
  const part = `Wildcard ${wildcards} of \`${variable.fieldPath}\`, which is \`${text}\`.`;
  return parameter(`${variable.fieldPath}_${wildcards}`, { type: "string" }, [...comments, part, ...notes]);
}

function parameter(name: string, schema: JsonObject, notes: readonly string[]) {
  const description = notes.join("\n\n");
  return { name, in: "path", required: true, ...(description === "" ? {} : { description }), schema };
}

function fieldOf({ method }: HttpBinding, fieldPath: string): FieldPath {
  const path = resolveFieldPath(method.input, fieldPath);
  if (path === undefined) throw misfit(method, `there is no field ${fieldPath}`);
  return path;
}

function textOf(segment: Segment): string {
  if (segment.kind === "literal") return segment.text;
  return segment.kind === "one" ? "*" : "**";
}

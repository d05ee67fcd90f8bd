import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { faultsOf } from "../../../support/repository/check-openapi.ts";
import { type Document, describeLibrary, type Operation } from "./library-document.ts";

let document: Document;
beforeAll(() => {
  document = describeLibrary();
});

function operation(verb: string, path: string): Operation {
  const found = document.paths[path]?.[verb];
  if (found === undefined) throw new Error(`${verb} ${path} is not described`);
  return found;
}

function names(verb: string, path: string, place: string): string[] {
  const all = operation(verb, path).parameters ?? [];
  return all.filter((one) => one.in === place).map(({ name, required }) => (required ? `${name}!` : name));
}

function bodyOf(verb: string, path: string): JsonObject | undefined {
  const schema = operation(verb, path).requestBody?.content["application/json"]?.schema;
  const name =
    String(schema?.["$ref"] ?? "")
      .split("/")
      .at(-1) ?? "";
  return document.components.schemas[name] ?? schema;
}

function replyOf(verb: string, path: string, type = "application/json"): JsonObject | undefined {
  return operation(verb, path).responses["200"]?.content?.[type]?.schema;
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe("the document of a service", () => {
  it("is valid according to other projects' validators", async () => {
    expect(await faultsOf(document)).toEqual([]);
  });

  it("is the same text for the same protos", () => {
    expect(JSON.stringify(describeLibrary())).toBe(JSON.stringify(document));
  });

  it("has exactly the bindings of the annotated methods", () => {
    const all = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([verb, { operationId }]) => `${verb} ${path} ${operationId}`),
    );
    expect(all.sort()).toEqual([
      "delete /v1/files/{path} delete",
      "get /v1/books booksFind",
      "get /v1/books:watch watch",
      "get /v1/contents/{path} read",
      "get /v1/covers/{path} probe2",
      "get /v1/readers/{path} readersFind",
      "get /v1/shelves/{parent_1}/rows/{parent_2}/books booksFind2",
      "options /v1/covers/{segment_3}/{path} probe",
      "patch /v1/books/{book.name} update",
      "post /v1/books/{book.name}/whole update3",
      "post /v1/books:find booksFind3",
      "post /v1/covers probe3",
      "post /v1/covers:watch cover2",
      "post /v1/rules take",
      "post /v1/rules/{anything} take2",
      // In the template it is `{title}`, but OpenAPI could not distinguish that path from PATCH's.
      "put /v1/books/{book.name} update2",
      "put /v1/covers/{path} cover",
    ]);
  });

  it("takes descriptions from comments, and marks deprecated parts", () => {
    const { summary, description } = operation("get", "/v1/books");
    expect({ summary, description }).toEqual({
      summary: "Finds books",
      description: "Finds books. Any of them.",
    });
    expect(operation("delete", "/v1/files/{path}").deprecated).toBe(true);
    const { Book, Binding } = document.components.schemas;
    expect(Book).toMatchObject({ properties: { binding: { description: "Its binding." } } });
    expect(Binding?.["description"]).toBe(
      "How books are bound.\n\n- `BINDING_UNSPECIFIED`: Not known.\n- `BINDING_PAPER`: In paper.\n- `BINDING_CLOTH`: In cloth.",
    );
  });
});

describe("a binding", () => {
  it("has each wildcard of its path as a required parameter", () => {
    expect(names("get", "/v1/shelves/{parent_1}/rows/{parent_2}/books", "path")).toEqual([
      "parent_1!",
      "parent_2!",
    ]);
    expect(names("options", "/v1/covers/{segment_3}/{path}", "path")).toEqual(["segment_3!", "path!"]);
  });

  it("has the remaining fields in its query, nested ones by dotted names", () => {
    const filter = ["filter.since", "filter.lent", "filter.age"];
    expect(names("get", "/v1/books", "query")).toEqual(["parent", "bindings!", ...filter, "pageSize"]);
    expect(names("get", "/v1/shelves/{parent_1}/rows/{parent_2}/books", "query")).toEqual([
      "bindings!",
      ...filter,
      "pageSize",
    ]);
    expect(names("patch", "/v1/books/{book.name}", "query")).toEqual(["updateMask", "title!"]);
    expect(names("post", "/v1/books:find", "query")).toEqual([]);
  });

  it("repeats a parameter for a repeated field", () => {
    const bindings = operation("get", "/v1/books").parameters?.find(({ name }) => name === "bindings");
    expect(bindings).toMatchObject({
      style: "form",
      explode: true,
      schema: { type: "array", minItems: 1, uniqueItems: true, items: ref("Binding") },
    });
  });

  it("takes as its body the request, or the field that the annotation names", () => {
    expect(operation("post", "/v1/books:find").requestBody).toMatchObject({ required: true });
    expect(bodyOf("post", "/v1/books:find")).toMatchObject({ required: ["bindings"] });
    expect(operation("post", "/v1/covers").requestBody).toEqual({
      required: false,
      content: { "application/json": { schema: { type: "string" } } },
    });
    expect(operation("get", "/v1/books").requestBody).toBeUndefined();
  });

  it("makes the fields of the path optional in the body, at any depth", () => {
    expect(bodyOf("put", "/v1/books/{book.name}")).toMatchObject({ required: ["book"] });
    expect(bodyOf("patch", "/v1/books/{book.name}")).toMatchObject({ required: ["binding"] });
    const whole = bodyOf("post", "/v1/books/{book.name}/whole");
    expect(whole).toMatchObject({ required: ["title"], properties: { book: { required: ["binding"] } } });
  });

  it("returns the message, or the field that the annotation names", () => {
    expect(replyOf("get", "/v1/books")).toEqual(ref("FindResponse"));
    expect(replyOf("patch", "/v1/books/{book.name}")).toEqual({ anyOf: [ref("Book"), { type: "null" }] });
    expect(replyOf("put", "/v1/books/{book.name}")).toEqual({ type: "array", items: { type: "string" } });
    expect(replyOf("delete", "/v1/files/{path}")).toEqual({ type: "object" });
  });

  it("returns a server stream as events or as lines, and lets an EventSource resume", () => {
    const { responses } = operation("get", "/v1/books:watch");
    expect(Object.keys(responses["200"]?.content ?? {})).toEqual([
      "application/x-ndjson",
      "text/event-stream",
    ]);
    expect(replyOf("get", "/v1/books:watch", "application/x-ndjson")).toMatchObject({
      contentSchema: { items: { anyOf: [ref("Book"), { required: ["error"] }] } },
    });
    expect(responses["204"]).toBeDefined();
    expect(names("get", "/v1/books:watch", "header")).toEqual(["last-event-id"]);
  });

  it("streams the field that the annotation names", () => {
    expect(replyOf("post", "/v1/covers:watch", "application/x-ndjson")).toMatchObject({
      contentSchema: { items: { anyOf: [{ type: "string" }, { required: ["error"] }] } },
    });
  });

  it("takes and returns an HttpBody as octets, even as a field", () => {
    const octets = { "application/octet-stream": { schema: { type: "string", format: "binary" } } };
    const { requestBody, responses } = operation("put", "/v1/covers/{path}");
    expect(requestBody).toEqual({ required: true, content: octets });
    expect(responses["200"]?.content).toEqual(octets);
  });

  it("allows a conditional GET for octets, and a GET for a range of them", () => {
    expect(replyOf("get", "/v1/covers/{path}", "application/octet-stream")).toMatchObject({
      format: "binary",
    });
    for (const path of ["/v1/covers/{path}", "/v1/contents/{path}"]) {
      expect(names("get", path, "header")).toEqual(["if-none-match", "if-range", "range"]);
      expect(Object.keys(operation("get", path).responses)).toEqual(["200", "206", "304", "4XX"]);
    }
    expect(Object.keys(operation("post", "/v1/covers").responses)).toEqual(["200", "4XX"]);
  });
});

describe("an annotation that cannot be described", { timeout: 60_000 }, () => {
  const edited = (from: string, to: string) => () => describeLibrary((proto) => proto.replace(from, to));

  it("is refused with the name of its method", () => {
    expect(edited("books/{title}", "books/{nothing}")).toThrow(
      "library.v1.Books.Update: there is no field nothing",
    );
    expect(edited('body: "path"', 'body: "nothing"')).toThrow(
      "library.v1.Books.Probe: there is no field nothing",
    );
    expect(edited('kind: "OPTIONS"', 'kind: "FETCH"')).toThrow(
      "library.v1.Books.Probe: OpenAPI has no operations",
    );
    expect(edited("/v1/covers/*/{path}", "/v1/covers/{path=*}/{path}")).toThrow("duplicate variable path");
    expect(edited('"/v1/rules"', '"/v1/books:find"')).toThrow("two bindings are post /v1/books:find");
  });
});

import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";

/** Returns the faults that two independent validators find in a document; empty if it is valid. */
export async function faultsOf(document: object): Promise<string[]> {
  const source = JSON.stringify(document);
  const { valid, errors } = await new Validator().validate(JSON.parse(source));
  const faults = valid ? [] : [`schema: ${JSON.stringify(errors)}`];
  for (const rules of ["recommended", "spec"] as const) {
    const config = await createConfig({ extends: [rules] });
    const problems = await lintFromString({ source, absoluteRef: "/openapi.json", config });
    faults.push(
      ...problems.map(
        ({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer ?? "?"}: ${message}`,
      ),
    );
  }
  return faults;
}

import { expect, it } from "vitest";
import { sourcesBelow } from "../../../support/repository/source-files.ts";

/** What the hooks may use: React has all of these since 18.2 or longer. */
const SINCE_18_2 = [
  ...["createContext", "createElement", "useCallback", "useContext", "useState", "useSyncExternalStore"],
  ...["ReactElement", "ReactNode"],
];

it("the hooks import from React only what its oldest supported version has, and nothing of a page", () => {
  const files = sourcesBelow(["src/client/react"], [".ts"]);
  const used = files.flatMap(({ text }) =>
    [...text.matchAll(/import \{([^}]*)\} from "react";/g)].flatMap(([, names = ""]) =>
      names.split(",").map((name) => name.replace("type ", "").trim()),
    ),
  );
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter((name) => name !== "" && !SINCE_18_2.includes(name))).toEqual([]);
  const specifiers = files.flatMap(({ text }) =>
    [...text.matchAll(/from "([^".][^"]*)"/g)].map(([, name]) => name),
  );
  expect([...new Set(specifiers)]).toEqual(["react"]);
});

import { useEffect, useState } from "preact/hooks";
import { type Session, useSession } from "./session.ts";

/**
 * Returns the names of projects and of their newest 200 keys. Asks for each project once while the page is open, and
 * for no more than {@link PROJECTS_MAX_COUNT}; an id that is not in the answer has no name yet, or none that the key may
 * see.
 */
export function useNames(projectIds: readonly string[]): Names {
  const { admin } = useSession().everyNetwork;
  const [names, setNames] = useState<Names>({ projects: new Map(), keys: new Map() });
  const [asked] = useState(() => new Set<string>());
  const wanted = [...new Set(projectIds)].filter((id) => id !== "").slice(0, PROJECTS_MAX_COUNT);
  useEffect(() => {
    const abort = new AbortController();
    const open = new Set<string>();
    for (const projectId of wanted) {
      if (asked.has(projectId) || asked.size >= PROJECTS_MAX_COUNT) continue;
      asked.add(projectId);
      open.add(projectId);
      // Without an answer the id remains, which is right, and less friendly.
      readNames(admin, projectId, abort.signal).then(
        (found) => {
          if (abort.signal.aborted) return;
          open.delete(projectId);
          setNames((before) => joined(before, found));
        },
        () => {
          if (!abort.signal.aborted) asked.delete(projectId);
        },
      );
    }
    return () => {
      abort.abort();
      // The next page of the list may have them again, and asks anew.
      for (const projectId of open) asked.delete(projectId);
    };
  }, [wanted.join()]);
  return names;
}

/** Names by id. */
export interface Names {
  readonly projects: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
}

const PROJECTS_MAX_COUNT = 50;

async function readNames(admin: Session["admin"], projectId: string, signal: AbortSignal): Promise<Names> {
  const [{ project }, { apiKeys }] = await Promise.all([
    admin.getProject({ projectId }, { signal }),
    admin.listApiKeys({ projectId, pageSize: 200 }, { signal }),
  ]);
  return {
    projects: new Map(project === undefined ? [] : [[projectId, project.name]]),
    keys: new Map(apiKeys.map(({ apiKeyId, name }) => [apiKeyId, name])),
  };
}

function joined(one: Names, other: Names): Names {
  return {
    projects: new Map([...one.projects, ...other.projects]),
    keys: new Map([...one.keys, ...other.keys]),
  };
}

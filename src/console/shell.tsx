import type { JSX } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { AccountMenu } from "./account-menu.tsx";
import { goTo, useRoute } from "./address/use-route.ts";
import { useSession, useSignOut } from "./api/session.ts";
import { useIdle } from "./api/use-idle.ts";
import { SelectField } from "./design/form/field.tsx";
import { PRODUCT } from "./design/page-frame.tsx";
import { SilenceBanner } from "./design/silence-banner.tsx";
import { Icon } from "./design/value/icon.tsx";
import { OPERATOR_ROUTES } from "./operator/routes.ts";
import { PROJECT_ROUTES } from "./project/routes.ts";
import { findRoute, type Route } from "./route.ts";
import { RoutedPage } from "./routed-page.tsx";
import { SearchButton } from "./search.tsx";

/** The frame around the pages: navigation, network, search and account. */
export function Shell(): JSX.Element {
  const { role, network, networks, scopes } = useSession();
  const signOut = useSignOut();
  const routes = role === "operator" ? OPERATOR_ROUTES : PROJECT_ROUTES;
  const path = useRoute();
  const route = findRoute(routes, path);
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  const menuButton = useRef<HTMLButtonElement>(null);
  useEffect(() => setIsMenuOpen(false), [route, path.join("/")]);
  // Before the menu is painted, so that no key is lost.
  useLayoutEffect(() => {
    if (!isMenuOpen) return undefined;
    const closeOnEscape = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      setIsMenuOpen(false);
      menuButton.current?.focus();
    };
    addEventListener("keydown", closeOnEscape);
    return () => removeEventListener("keydown", closeOnEscape);
  }, [isMenuOpen]);
  useIdle(
    IDLE_MS,
    useCallback(() => signOut("You were signed out after 30 minutes without use."), [signOut]),
  );
  return (
    <div class="shell">
      <button type="button" class="button skip-link" onClick={skipToContent}>
        Skip to the content
      </button>
      <header class={networks.length > 1 ? "top top-of-several" : "top"}>
        <button
          ref={menuButton}
          type="button"
          class="icon-button menu-button"
          aria-expanded={isMenuOpen}
          aria-controls="navigation"
          aria-label="Menu"
          onClick={() => setIsMenuOpen(!isMenuOpen)}
        >
          <Icon name={isMenuOpen ? "cross" : "menu"} />
        </button>
        <span class="brand">{PRODUCT}</span>
        {networks.length > 1 ? (
          <SelectField
            label="Network"
            options={networks.map((name) => [name, name])}
            value={network}
            isInline
            onSelect={(name) => goTo(name, location.hash)}
          />
        ) : (
          <span
            class="network"
            title={role === "operator" ? "The network of this service" : "The network of this key"}
          >
            {network}
          </span>
        )}
        <span class="top-end">
          <SearchButton routes={routes} />
          <AccountMenu />
        </span>
      </header>
      <nav id="navigation" class={isMenuOpen ? "side side-open" : "side"} aria-label="Pages">
        <div class="menu">
          {menuOf(routes).map(([group, entries]) => (
            <div key={group} class="menu-group">
              {group !== "" && <p class="menu-title">{group}</p>}
              <ul aria-label={group || undefined}>
                {entries.map((entry) => (
                  <li key={entry.path}>
                    <MenuLink
                      entry={entry}
                      isOpen={route?.menu === entry.path}
                      lacks={
                        scopes !== undefined && entry.scope !== undefined && !scopes.includes(entry.scope)
                      }
                    />
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </div>
      </nav>
      <main id="content" tabIndex={-1}>
        <SilenceBanner />
        <RoutedPage route={route} path={path} />
      </main>
    </div>
  );
}

const IDLE_MS = 30 * 60_000;

/** Returns the entries of the menu by their heading, in the order of the routes; the first heading is empty. */
function menuOf(routes: readonly Route[]): (readonly [string, readonly Route[]])[] {
  const entries = routes.filter(({ path, menu, hasId }) => path === menu && hasId !== true);
  const groups = [...new Set(entries.map(({ group = "" }) => group))];
  return groups.map((name) => [name, entries.filter(({ group = "" }) => group === name)]);
}

/** An entry that the key lacks the scope for is grey and says so. It opens a page that says the same. */
function MenuLink({ entry: { path, title, scope }, isOpen, lacks }: MenuLinkProps): JSX.Element {
  return (
    <a
      href={`#/${path}`}
      class={lacks ? "menu-link-closed" : undefined}
      title={lacks ? `The key lacks the scope ${scope}` : undefined}
      aria-current={isOpen ? "page" : undefined}
    >
      {title}
      {lacks && <span class="visually-hidden">, the key lacks the scope {scope}</span>}
    </a>
  );
}

interface MenuLinkProps {
  readonly entry: Route;
  /** True while the entry's page, or a page below it, is shown. */
  readonly isOpen: boolean;
  /** True if the key lacks the entry's scope. */
  readonly lacks: boolean;
}

/** A button, because a link would change the address, which selects the page. */
function skipToContent(): void {
  document.getElementById("content")?.focus();
}

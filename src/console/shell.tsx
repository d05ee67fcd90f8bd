import type { JSX } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useSession, useSignOut } from "./api/session.ts";
import { useIdle } from "./api/use-idle.ts";
import { OPERATOR_ROUTES } from "./operator/routes.ts";
import { PROJECT_ROUTES } from "./project/routes.ts";
import { findRoute, type Route } from "./route.ts";
import { RoutedPage } from "./routed-page.tsx";
import { SelectField } from "./ui/field.tsx";
import { Icon } from "./ui/icon.tsx";
import { ThemeChoice } from "./ui/theme-choice.tsx";
import { goTo, useRoute } from "./ui/use-route.ts";

/** The frame around the pages: navigation, network, theme and sign-out. */
export function Shell(): JSX.Element {
  const { role, projectName, network, networks } = useSession();
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
        <span class="brand">Console</span>
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
          <span class="muted role">{role === "operator" ? "Operator" : projectName}</span>
          <ThemeChoice />
          <button type="button" class="button" onClick={() => signOut("You are signed out.")}>
            Sign out
          </button>
        </span>
      </header>
      <nav id="navigation" class={isMenuOpen ? "side side-open" : "side"} aria-label="Pages">
        <ul>
          {routes.filter(isInMenu).map(({ path: place, title }) => (
            <li key={place}>
              <a href={`#/${place}`} aria-current={route?.menu === place ? "page" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
        <RoutedPage route={route} path={path} />
      </main>
    </div>
  );
}

const IDLE_MS = 30 * 60_000;

const isInMenu = ({ path, menu, hasId }: Route): boolean => path === menu && hasId !== true;

/** A button, because a link would change the address, which selects the page. */
function skipToContent(): void {
  document.getElementById("content")?.focus();
}

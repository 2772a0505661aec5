import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { buildDashboard } from './build.ts';
import { fleet } from './fleet.ts';
import { models } from './models.ts';
import { sweeps } from './sweeps.ts';

/** The dashboards as they are published, by file name. */
export const dashboards = { sweeps, models, fleet } as const;

/** Where a dashboard is published. */
export function dashboardFile(name: string): URL {
  return new URL(`./dashboards/${name}.json`, import.meta.url);
}

/** The published text of each dashboard. */
export function dashboardTexts(): Readonly<Record<string, string>> {
  const text = (name: keyof typeof dashboards) =>
    `${JSON.stringify(buildDashboard(dashboards[name]), null, 2)}\n`;
  return { sweeps: text('sweeps'), models: text('models'), fleet: text('fleet') };
}

/** Names of the dashboards whose file says something else than their source. */
export function driftingDashboards(): readonly string[] {
  return Object.entries(dashboardTexts()).flatMap(([name, text]) => (text === published(name) ? [] : [name]));
}

function published(name: string): string | undefined {
  try {
    return readFileSync(dashboardFile(name), 'utf8');
  } catch {
    return undefined;
  }
}

// `node deploy/grafana/write.ts [--check]`
if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const drifting = driftingDashboards();
    if (drifting.length > 0) {
      process.stderr.write(
        `run node deploy/grafana/write.ts: ${drifting.join(', ')} differ from their source\n`,
      );
      process.exitCode = 1;
    }
  } else {
    for (const [name, text] of Object.entries(dashboardTexts())) writeFileSync(dashboardFile(name), text);
  }
}

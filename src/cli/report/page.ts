/**
 * The report as one page that needs nothing else: what it shows is text and drawings within it, and its policy forbids every request. A
 * short script, known by its digest, adds zoom and hover.
 */
import { type Report, reportSchema } from '../../protocol/report.ts';
import { browserScript } from './browser/script.ts';
import { environmentSection } from './environment-section.ts';
import { failuresSection } from './failures-section.ts';
import { embeddedJson, html, Markup, shown } from './html.ts';
import { style } from './style.ts';
import { summarySection } from './summary-section.ts';
import { pathSection, retriesSection, slowestSection, workersSection } from './tables-section.ts';
import { pageData, timelineSection } from './timeline-section.ts';
import { timesSection, usageSection } from './usage-section.ts';

/** By which a page is known to be one: near its beginning. */
export const pageMark = '<meta name="generator" content="Drover report';

/** `digest`: SHA-256 in hex. */
export function reportPage(report: Report, digest: (text: string) => string): string {
  const { workflow, versions } = report;
  const data = pageData(report);
  const script = browserScript();
  const sum = Buffer.from(digest(script), 'hex').toString('base64');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${sum}'; base-uri 'none'; form-action 'none'`;
  const title = [workflow.id, workflow.name, workflow.state].filter((part) => part !== undefined).join(' ');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${new Markup(pageMark)} ${reportSchema}, Drover ${versions.drover}">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${shown(title)}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<main id="page">
${summarySection(report)}
${failuresSection(report)}
${timelineSection(report)}
${timesSection(report)}
${usageSection(report)}
${pathSection(report)}
${slowestSection(report)}
${retriesSection(report)}
${workersSection(report)}
${environmentSection(report)}
<footer>Made by Drover ${versions.drover} with <code>drover report ${workflow.id}</code>. This page asks nothing of any server.</footer>
</main>
<div id="tip" role="status" hidden></div>
${
  data === undefined
    ? undefined
    : html`<script type="application/json" id="data">${embeddedJson(data)}</script>
<script>${new Markup(script)}</script>`
}
</body>
</html>
`.text;
}

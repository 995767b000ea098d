/** A page to browse the API with: one file, nothing from elsewhere. It reads the document, and can try what only reads. */
export const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Drover API</title>
<style>
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1 small, .about, td:nth-child(2) { opacity: .7; }
code, pre, input, .path { font: 13px/1.5 ui-monospace, monospace; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; }
summary { cursor: pointer; padding: .4rem .7rem; display: flex; gap: .7rem; flex-wrap: wrap; align-items: baseline; }
details > div { padding: .2rem .9rem .8rem; border-top: 1px solid var(--line); overflow-x: auto; }
.verb { font-weight: 600; width: 4.2rem; }
.get { color: #2a7de1; } .post { color: #1a9d55; } .patch, .put { color: #c77c11; } .delete { color: #d33; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid var(--line); padding: .25rem .6rem .25rem 0; vertical-align: top; }
pre { background: var(--soft); padding: .6rem; border-radius: 6px; overflow: auto; max-height: 30rem; }
input { padding: .3rem .5rem; width: 100%; box-sizing: border-box; }
button { padding: .3rem .9rem; margin: .5rem 0; }
nav input { margin: .3rem 0; }
</style>
<h1>Drover API <small id="version"></small></h1>
<p class="about" id="about"></p>
<nav><label>Token, for trying: <input id="token" type="password" autocomplete="off"></label>
<label>Find: <input id="find" placeholder="tasks cancel"></label></nav>
<main id="routes"></main>
<h2>Schemas</h2>
<div id="schemas"></div>
<script type="module">
const make = (tag, text, name) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
};
const row = (...cells) => {
  const tr = make('tr');
  for (const cell of cells) tr.append(typeof cell === 'string' ? make('td', cell) : cell);
  return tr;
};
const pretty = (value) => make('pre', JSON.stringify(value, null, 2));
const typeOf = (schema) => schema.$ref ? schema.$ref.split('/').pop() : schema.type || 'one of its words';

function parameters(operation) {
  const table = make('table');
  const inputs = [];
  for (const one of operation.parameters) {
    const input = make('input');
    input.placeholder = one.example || '';
    inputs.push([one, input]);
    const cell = make('td');
    cell.append(input);
    table.append(row(one.name + (one.required ? ' *' : ''), one.description || typeOf(one.schema), cell));
  }
  return [table, inputs];
}

function trying(path, inputs) {
  const button = make('button', 'Try it');
  const answer = make('pre');
  answer.hidden = true;
  button.onclick = async () => {
    let url = path;
    const query = [];
    for (const [{ name, in: where }, input] of inputs) {
      if (where === 'path') url = url.replace('{' + name + '}', encodeURIComponent(input.value));
      else if (/^(!=|[<>]=?|~)/.test(input.value)) query.push(encodeURIComponent(name + input.value));
      else if (input.value) query.push(encodeURIComponent(name) + '=' + encodeURIComponent(input.value));
    }
    const token = document.getElementById('token').value;
    const response = await fetch(query.length ? url + '?' + query.join('&') : url, {
      headers: token ? { authorization: 'Bearer ' + token } : {},
    });
    const text = await response.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* bytes as they are */ }
    answer.textContent = response.status + '\\n' + shown;
    answer.hidden = false;
  };
  return [button, answer];
}

function route(path, method, operation) {
  const details = make('details');
  const summary = make('summary');
  summary.append(make('span', method.toUpperCase(), 'verb ' + method), make('span', path, 'path'));
  summary.append(make('span', operation.summary || '', 'about'));
  const body = make('div');
  if (operation.description) body.append(make('p', operation.description));
  const [table, inputs] = parameters(operation);
  body.append(table);
  for (const [type, content] of Object.entries(operation.requestBody?.content || {})) {
    body.append(make('p', 'Body, ' + type), pretty(content.example || content.schema));
  }
  for (const [status, answer] of Object.entries(operation.responses)) {
    const schema = answer.content?.['application/json']?.schema;
    const what = answer.$ref ? 'an error' : answer.description;
    body.append(make('p', status + ': ' + what + (schema?.$ref ? ', ' + typeOf(schema) : '')));
  }
  if (method === 'get') body.append(...trying(path, inputs));
  details.append(summary, body);
  return details;
}

const document_ = await (await fetch('openapi.json')).json();
document.getElementById('version').textContent = document_.info.version;
document.getElementById('about').textContent = document_.info.description;
const routes = document.getElementById('routes');
for (const { name } of document_.tags) {
  routes.append(make('h2', name));
  for (const [path, methods] of Object.entries(document_.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.tags.includes(name)) routes.append(route(path, method, operation));
    }
  }
}
for (const [name, schema] of Object.entries(document_.components.schemas)) {
  const details = make('details');
  const body = make('div');
  body.append(pretty(schema));
  details.append(make('summary', name), body);
  document.getElementById('schemas').append(details);
}
document.getElementById('find').oninput = ({ target }) => {
  const words = target.value.toLowerCase().split(/\\s+/);
  for (const one of routes.querySelectorAll('details')) {
    const text = one.querySelector('summary').textContent.toLowerCase();
    one.hidden = !words.every((word) => text.includes(word));
  }
};
</script>
</html>
`;

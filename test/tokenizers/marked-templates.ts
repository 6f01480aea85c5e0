// Templates that mark the assistant's part with {% generation %}, in the ways that real ones do.

export const MARKED_TEMPLATES: Readonly<Record<string, string>> = {
  inline:
    "{% for m in messages %}{{ '<' + m.role + '>' }}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{{ eos_token }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}{{ '\\n' }}{% endfor %}",
  'on its own lines': [
    '{% for m in messages %}',
    '{{ m.role }}:',
    "    {% if m.role == 'assistant' %}",
    '    {% generation %}',
    '    {{ m.content }}',
    '    {% endgeneration %}',
    '    {% else %}{{ m.content }}{% endif %}',
    '{% endfor %}',
    '{# a comment with {% generation %} in it #}',
    '',
  ].join('\n'),
  'trimming on both sides': [
    '{%- for m in messages %}',
    "  {{- '\\n' + m.role + ' ' }}",
    "  {%- if m.role == 'assistant' %}",
    '    {%- generation -%}  ',
    '      {{ m.content }}  ',
    '    {%- endgeneration -%}  ',
    '    {{ eos_token }}',
    '  {%- else %}',
    '    {{- m.content }}',
    '  {%- endif %}',
    '{%- endfor %}',
  ].join('\r\n'),
};

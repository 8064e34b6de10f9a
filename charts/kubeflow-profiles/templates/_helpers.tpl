{{/* A resource that is no use without its namespace is refused with a message that begins so. */}}
{{- define "kubeflow-profiles.refuse" -}}
{{- fail (printf "kubeflow-profiles: profile %s: %s" .profile .why) -}}
{{- end -}}

{{/* Labels of every object: the user's own, and one by which all that this chart makes is found. */}}
{{- define "kubeflow-profiles.labels" -}}
{{- $ours := dict "app.kubernetes.io/name" "kubeflow-profiles" "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- merge $ours (.labels | default dict) | toYaml -}}
{{- end -}}

{{/*
A quantity in canonical form, the largest unit that leaves a whole number: 2048Gi is 2Ti, 2000m is 2,
1000 is 1k. The Profile controller writes Profiles back in this form; any other would be changed to
and fro by the controller and Argo CD for ever.
*/}}
{{- define "kubeflow-profiles.quantity" -}}
{{- $text := kindIs "string" . | ternary (toString .) (printf "%d" (int64 .)) -}}
{{- $number := int64 (regexFind "^[0-9]+" $text) -}}
{{- $unit := regexReplaceAll "^[0-9]+" $text "" -}}
{{- $base := 1000 -}}
{{- $units := list "m" "" "k" "M" "G" "T" "P" "E" -}}
{{- if hasSuffix "i" $unit -}}
{{- $base = 1024 -}}
{{- $units = list "Ki" "Mi" "Gi" "Ti" "Pi" "Ei" -}}
{{- end -}}
{{- $reached := false -}}
{{- range $units -}}
{{- if eq . $unit -}}
{{- $reached = true -}}
{{- else if and $reached (gt $number 0) (eq (mod $number $base) 0) -}}
{{- $number = div $number $base -}}
{{- $unit = . -}}
{{- else -}}
{{- $reached = false -}}
{{- end -}}
{{- end -}}
{{- if gt $number 0 -}}{{ $number }}{{ $unit }}{{- else -}}0{{- end -}}
{{- end -}}

{{/* A map of quantities, as YAML; numbers become strings. */}}
{{- define "kubeflow-profiles.quantities" -}}
{{- $made := dict -}}
{{- range $name, $quantity := . -}}
{{- $_ := set $made $name (include "kubeflow-profiles.quantity" $quantity) -}}
{{- end -}}
{{- toYaml $made -}}
{{- end -}}

{{/* The name of a contributor's two objects, as the access management of Kubeflow (KFAM) makes it. */}}
{{- define "kubeflow-profiles.binding" -}}
{{- $user := regexReplaceAll "[^a-zA-Z0-9]+" .user "-" -}}
{{- regexReplaceAll "[^a-zA-Z0-9]+" (lower (printf "user-%s-clusterrole-%s" $user .role)) "-" -}}
{{- end -}}

{{/*
The limits of a profile's containers, as YAML: what the user says, and a default request of CPU and
memory where the quota counts it. The API server takes a default limit from max, and a default
request from the default limit or from min.
*/}}
{{- define "kubeflow-profiles.limits" -}}
{{- $profile := .profile -}}
{{- $quota := $profile.quota | default dict -}}
{{- $limits := deepCopy ($profile.limitRange | default dict) -}}
{{- range $name := list "cpu" "memory" -}}
{{- $limit := or (hasKey ($limits.default | default dict) $name) (hasKey ($limits.max | default dict) $name) -}}
{{- $request := or $limit (hasKey ($limits.defaultRequest | default dict) $name) (hasKey ($limits.min | default dict) $name) -}}
{{- if and (hasKey $quota (printf "limits.%s" $name)) (not $limit) -}}
{{- $why := printf "the quota counts limits.%s, so pods without such a limit are refused: give limitRange.default.%s" $name $name -}}
{{- include "kubeflow-profiles.refuse" (dict "profile" $profile.name "why" $why) -}}
{{- end -}}
{{- if and (or (hasKey $quota $name) (hasKey $quota (printf "requests.%s" $name))) (not $request) -}}
{{- $requests := $limits.defaultRequest | default dict -}}
{{- $_ := set $requests $name (index $.defaults $name) -}}
{{- $_ := set $limits "defaultRequest" $requests -}}
{{- end -}}
{{- end -}}
{{- toYaml $limits -}}
{{- end -}}

{{/* Refuse what the schema cannot see: names that stand twice, and an owner among the contributors. */}}
{{- define "kubeflow-profiles.check" -}}
{{- $names := dict -}}
{{- range $profile := .Values.profiles -}}
{{- if hasKey $names $profile.name -}}
{{- include "kubeflow-profiles.refuse" (dict "profile" $profile.name "why" "the name stands twice") -}}
{{- end -}}
{{- $_ := set $names $profile.name true -}}
{{- $bindings := dict -}}
{{- range $contributor := $profile.contributors -}}
{{- if eq $contributor.user $profile.owner -}}
{{- $why := printf "the owner %s cannot be a contributor, too: owners are admins" $profile.owner -}}
{{- include "kubeflow-profiles.refuse" (dict "profile" $profile.name "why" $why) -}}
{{- end -}}
{{- $binding := include "kubeflow-profiles.binding" $contributor -}}
{{- if hasKey $bindings $binding -}}
{{- $why := printf "the contributors %s and %s have one name, %s" (get $bindings $binding) $contributor.user $binding -}}
{{- include "kubeflow-profiles.refuse" (dict "profile" $profile.name "why" $why) -}}
{{- end -}}
{{- $_ := set $bindings $binding $contributor.user -}}
{{- end -}}
{{- $podDefaults := dict -}}
{{- range $profile.podDefaults -}}
{{- if hasKey $podDefaults .name -}}
{{- include "kubeflow-profiles.refuse" (dict "profile" $profile.name "why" (printf "the podDefault %s stands twice" .name)) -}}
{{- end -}}
{{- $_ := set $podDefaults .name true -}}
{{- end -}}
{{- $plugins := dict -}}
{{- range $profile.plugins -}}
{{- if hasKey $plugins .kind -}}
{{- include "kubeflow-profiles.refuse" (dict "profile" $profile.name "why" (printf "the plugin %s stands twice" .kind)) -}}
{{- end -}}
{{- $_ := set $plugins .kind true -}}
{{- end -}}
{{- end -}}
{{- end -}}
